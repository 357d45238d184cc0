/** `make bundle`: the holdfast command without its sources, dist/holdfast.js, with the init program beside it. */
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { bundleCommand } from './bundle-command.ts';
import { ROOT } from './setup/cache.ts';

const dist = join(ROOT, 'dist');
await bundleCommand(dist);
const init = join(ROOT, 'runtime/init/build/holdfast-init');
if (existsSync(init)) copyFileSync(init, join(dist, 'holdfast-init'));
console.log('dist/holdfast.js');
