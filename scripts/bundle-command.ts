import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './setup/cache.ts';

/** The holdfast command without its sources, as OUTDIR/holdfast.js; what was in the folder goes. */
export async function bundleCommand(outdir: string): Promise<void> {
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints: { holdfast: join(ROOT, 'cli/main.ts') },
    outdir,
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
}
