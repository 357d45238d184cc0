/** `make check`: each check by itself, all of them even when one fails; only a failure's output is shown. */
import { spawn } from 'node:child_process';

interface Check {
  name: string;
  command: string[];
}

const checks: Check[] = [
  { name: 'format', command: ['biome', 'format', '.'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'unused code', command: ['knip'] },
  { name: 'import direction', command: ['node', 'scripts/check-imports.ts'] },
  { name: 'generated files', command: ['node', 'scripts/generate.ts', '--check'] },
  { name: 'unit tests', command: ['vitest', 'run', '--project', 'unit'] },
];

const failed: string[] = [];
for (const check of checks) {
  const startedMs = performance.now();
  const { code, output } = await run(check.command);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'}  ${check.name.padEnd(18)} ${seconds.padStart(6)} s`);
  if (code === 0) continue;
  failed.push(check.name);
  console.log(output.replace(/^/gm, '      '));
}
if (failed.length > 0) {
  console.log(`make check: ${failed.join(', ')} failed`);
  process.exit(1);
}
console.log('make check: all passed');

async function run([program = '', ...args]: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve(status ?? 1));
  });
  return { code, output: Buffer.concat(chunks).toString('utf8').trimEnd() };
}
