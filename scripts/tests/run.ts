import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../setup/cache.ts';
import { type Daemon, readDaemons } from './daemons.ts';
import { startKubeAPIServer } from './kube-apiserver.ts';
import { type Report, resultsOf, type TestResult } from './results.ts';

export interface Run {
  results: TestResult[];
  daemons: Daemon[];
  /** Which kube-apiserver was used, or why none was. */
  kubeAPIServer: string;
}

const RESULTS = join(ROOT, '.cache', 'test-run.json');
const REPORT = join(ROOT, '.cache', 'test-report.json');
const DAEMONS = join(ROOT, '.cache', 'daemons.jsonl');

/** Tests of the C program, which have runners of their own: one result each. */
const PROGRAMS = [
  {
    target: 'test',
    title:
      'holdfast-init: its parts and the whole protocol, under the address and undefined-behaviour sanitizers',
  },
  { target: 'arm64', title: 'holdfast-init: built for arm64, and run under qemu' },
];

/** Runs every test, the daemons of the lab and a kube-apiserver included, and leaves none of them behind. */
export async function runTests(vitestArguments: string[] = []): Promise<Run> {
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  for (const file of [RESULTS, DAEMONS]) rmSync(file, { force: true });
  // Not in the repository: the path of a unix socket has at most 107 bytes.
  const labFolder = process.env['LAB_DIR'] ?? mkdtempSync(join(tmpdir(), 'hf-lab-'));
  const env = { ...process.env, LAB_DIR: labFolder, HOLDFAST_DAEMONS_LOG: DAEMONS };
  const results: TestResult[] = [];
  let kubeAPIServer = 'kube-apiserver     NOT USED: only some of the tests were run';
  try {
    if (vitestArguments.length === 0) {
      for (const { target, title } of PROGRAMS) {
        const code = await run('make', ['-s', '-C', join(ROOT, 'runtime/init'), target], env);
        results.push({ file: 'runtime/init/Makefile', title, result: code === 0 ? 'passed' : 'failed' });
      }
      const server = await startKubeAPIServer();
      if (typeof server === 'string') {
        kubeAPIServer = `kube-apiserver     NOT USED: ${server}`;
        results.push(...(await vitest([], env)));
      } else {
        kubeAPIServer = 'kube-apiserver     v1.37, built from its Go modules';
        try {
          results.push(...(await vitest([], { ...env, HOLDFAST_TEST_KUBECONFIG: server.kubeconfig })));
        } finally {
          await server.close();
        }
        results.push(...(await vitest(['test/contract'], { ...env, CONTRACT_SERVER: 'real' })));
      }
    } else {
      results.push(...(await vitest(vitestArguments, env)));
    }
  } finally {
    for (const config of readdirSync(labFolder).filter((name) => !name.endsWith('.lock')))
      await run(join(ROOT, 'test/lab/lab'), ['down', config], env);
    if (process.env['LAB_DIR'] === undefined) rmSync(labFolder, { recursive: true, force: true });
  }
  const whole: Run = { results, daemons: readDaemons(DAEMONS), kubeAPIServer };
  writeFileSync(RESULTS, JSON.stringify(whole));
  return whole;
}

/** What the last run found. */
export function lastRun(): Run {
  if (!existsSync(RESULTS)) throw new Error('there has been no run: make test');
  return JSON.parse(readFileSync(RESULTS, 'utf8')) as Run;
}

async function vitest(args: string[], env: NodeJS.ProcessEnv): Promise<TestResult[]> {
  rmSync(REPORT, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`];
  const code = await run('vitest', ['run', ...reporters, ...args], env);
  const report = existsSync(REPORT)
    ? (JSON.parse(readFileSync(REPORT, 'utf8')) as Report)
    : { testResults: [] };
  const results = resultsOf(report, ROOT);
  // An error outside of any test, or no report at all.
  if (code !== 0 && !results.some(({ result }) => result === 'failed'))
    results.push({
      file: `vitest ${args.join(' ')}`.trim(),
      title: `(ended with ${code})`,
      result: 'failed',
    });
  return results;
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
