import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../setup/cache.ts';
import { type Daemon, readDaemons } from './daemons.ts';
import { type Report, resultsOf, type TestResult } from './results.ts';

export interface Run {
  results: TestResult[];
  daemons: Daemon[];
  /** Of vitest itself: not 0 also for an error outside of any test. */
  exitCode: number;
}

const REPORT = join(ROOT, '.cache', 'test-results.json');
const DAEMONS = join(ROOT, '.cache', 'daemons.jsonl');

/** Runs every test, the daemons of the lab included, and leaves none of them behind. */
export async function runTests(vitestArguments: string[] = []): Promise<Run> {
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  rmSync(REPORT, { force: true });
  rmSync(DAEMONS, { force: true });
  // Not in the repository: the path of a unix socket has at most 107 bytes.
  const labFolder = process.env['LAB_DIR'] ?? mkdtempSync(join(tmpdir(), 'hf-lab-'));
  const env = { ...process.env, LAB_DIR: labFolder, HOLDFAST_DAEMONS_LOG: DAEMONS };
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`];
    const exitCode = await run('vitest', ['run', ...reporters, ...vitestArguments], env);
    return { ...lastRun(), exitCode };
  } finally {
    for (const config of readdirSync(labFolder)) await run(join(ROOT, 'test/lab/lab'), ['down', config], env);
    if (process.env['LAB_DIR'] === undefined) rmSync(labFolder, { recursive: true, force: true });
  }
}

/** What the last run found. */
export function lastRun(): Omit<Run, 'exitCode'> {
  if (!existsSync(REPORT)) return { results: [], daemons: [] };
  const report = JSON.parse(readFileSync(REPORT, 'utf8')) as Report;
  return { results: resultsOf(report, ROOT), daemons: readDaemons(DAEMONS) };
}

async function run(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(program, args, { cwd: ROOT, env, stdio: 'inherit' });
  // A Ctrl-C reaches the child by itself; this process stays to clean up after it.
  const stay = () => undefined;
  process.on('SIGINT', stay);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
  } finally {
    process.off('SIGINT', stay);
  }
}
