/** `make bundle`: the holdfast command as one file, dist/holdfast.js, with the init program beside it. */
import { copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './setup/cache.ts';

const outfile = join(ROOT, 'dist', 'holdfast.js');
await build({
  entryPoints: [join(ROOT, 'cli/main.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22.19',
  minify: false,
  legalComments: 'linked',
  // Packages in CommonJS call require(), which an ES module does not have.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
const init = join(ROOT, 'runtime/init/build/holdfast-init');
if (existsSync(init)) {
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  copyFileSync(init, join(ROOT, 'dist', 'holdfast-init'));
}
console.log(`dist/holdfast.js, ${(statSync(outfile).size / 1024 / 1024).toFixed(1)} MiB`);
