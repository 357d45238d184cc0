/** `make bundle`: the holdfast command without its sources, dist/holdfast.js, with the init program beside it. */
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './setup/cache.ts';

const dist = join(ROOT, 'dist');
rmSync(dist, { recursive: true, force: true });
await build({
  entryPoints: { holdfast: join(ROOT, 'cli/main.ts') },
  outdir: dist,
  bundle: true,
  // What is imported lazily stays out of the process until it is needed: 20 MB of resident memory less.
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node22.19',
  minify: true,
  keepNames: true,
  legalComments: 'linked',
  // Packages in CommonJS call require(), which an ES module does not have.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
const init = join(ROOT, 'runtime/init/build/holdfast-init');
if (existsSync(init)) copyFileSync(init, join(dist, 'holdfast-init'));
console.log('dist/holdfast.js');
