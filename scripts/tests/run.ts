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
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../setup/cache.ts';
import { type Daemon, readDaemons } from './daemons.ts';
import { guestConfigs, guestFiles } from './guests.ts';
import { startKubeAPIServer, withoutKubeAPIServer } from './kube-apiserver.ts';
import { explain, merge, type Report, resultsOf, type TestResult } from './results.ts';

export interface Run {
  results: TestResult[];
  daemons: Daemon[];
  /** Which kube-apiserver was used, or why none was. */
  kubeAPIServer: string;
  /** Tests that passed at a second try only. */
  retried: { file: string; title: string }[];
}

const OUT = join(ROOT, '.cache');
const RESULTS = join(OUT, 'test-run.json');
const DAEMONS = join(OUT, 'daemons.jsonl');
const RETRIED = join(OUT, 'retried.jsonl');
const SKIPPED = join(OUT, 'skipped.jsonl');

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
  mkdirSync(OUT, { recursive: true });
  for (const file of [RESULTS, DAEMONS, RETRIED, SKIPPED]) rmSync(file, { force: true });
  let found: Pick<Run, 'results' | 'kubeAPIServer'>;
  if (vitestArguments.length > 0) {
    const results = await withLab({}, (env) => vitest('some', vitestArguments, env));
    found = { results, kubeAPIServer: 'kube-apiserver     NOT USED: only some of the tests were run' };
  } else {
    found = await everything();
  }
  const whole: Run = {
    ...found,
    results: explain(merge(found.results), readLines(SKIPPED)),
    daemons: readDaemons(DAEMONS),
    retried: readLines(RETRIED),
  };
  writeFileSync(RESULTS, JSON.stringify(whole));
  return whole;
}

async function everything(): Promise<Pick<Run, 'results' | 'kubeAPIServer'>> {
  const results: TestResult[] = [];
  for (const { target, title } of PROGRAMS) {
    const code = await run('make', ['-s', '-C', join(ROOT, 'runtime/init'), target], process.env);
    results.push({ file: 'runtime/init/Makefile', title, result: code === 0 ? 'passed' : 'failed' });
  }
  const server = await startKubeAPIServer();
  const real = typeof server !== 'string';
  try {
    const kube = real ? { HOLDFAST_TEST_KUBECONFIG: server.kubeconfig } : {};
    // Each guest has one CPU to itself. Beside the host's tests one runs at a time; once those are done, or where
    // there are more CPUs, two. Their output comes when they are done.
    const waiting = guestConfigs();
    const guests = async (cpu: NodeJS.ProcessEnv): Promise<void> => {
      for (let config = waiting.shift(); config !== undefined; config = waiting.shift()) {
        const name = config;
        results.push(
          ...(await withLab({ HOLDFAST_LAB: name, ...cpu }, (env) =>
            // A file that wants none of these configurations has no test in this run.
            vitest(name, ['--passWithNoTests', ...guestFiles()], env, { quiet: true }),
          )),
        );
      }
    };
    const host = withLab({ HOLDFAST_LAB: 'docker-v1,fake', ...kube }, (env) => vitest('host', [], env));
    const free = availableParallelism() > 2 ? Promise.resolve() : host;
    const [found] = await Promise.all([host, guests({}), free.then(() => guests({ LAB_CPU: '0' }))]);
    results.push(...found);
  } finally {
    if (real) await server.close();
  }
  if (real)
    results.push(
      ...(await vitest('contract', ['test/contract', '--retry=2'], {
        ...process.env,
        CONTRACT_SERVER: 'real',
      })),
    );
  const kubeAPIServer = real
    ? `kube-apiserver     ${server.version}, built from its Go modules`
    : `kube-apiserver     NOT USED: ${server}`;
  if (!real) results.push(withoutKubeAPIServer(server));
  return { results, kubeAPIServer };
}

/** With a folder for daemons of the lab, which are down afterwards. */
export async function withLab<T>(
  more: NodeJS.ProcessEnv,
  work: (env: NodeJS.ProcessEnv) => Promise<T>,
): Promise<T> {
  // Not in the repository: the path of a unix socket has at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'hf-lab-'));
  const env = { ...process.env, ...more, LAB_DIR: folder, HOLDFAST_DAEMONS_LOG: DAEMONS };
  try {
    return await work(env);
  } finally {
    for (const config of readdirSync(folder).filter((name) => !name.endsWith('.lock')))
      await run(join(ROOT, 'test/lab/lab'), ['down', config], env);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a reporter noted of single tests. */
function readLines(path: string): { file: string; title: string; reason?: string }[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { file: string; title: string; reason?: string });
}

/** What the last run found. */
export function lastRun(): Run {
  if (!existsSync(RESULTS)) throw new Error('there has been no run: make test');
  return JSON.parse(readFileSync(RESULTS, 'utf8')) as Run;
}

/** One run of vitest; every test of it. */
export async function vitest(
  name: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  options: { quiet?: boolean } = {},
): Promise<TestResult[]> {
  const file = join(OUT, `test-report-${name}.json`);
  rmSync(file, { force: true });
  const own = ['retried', 'skipped'].map((one) => join(ROOT, `scripts/tests/${one}-reporter.ts`));
  const reporters = ['default', 'json', ...own];
  const command = [
    'run',
    ...reporters.map((one) => `--reporter=${one}`),
    `--outputFile.json=${file}`,
    ...args,
  ];
  const code = await run(
    'vitest',
    command,
    { ...env, HOLDFAST_RETRIED_LOG: RETRIED, HOLDFAST_SKIPPED_LOG: SKIPPED },
    options,
  );
  const report = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : { testResults: [] };
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

async function run(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  { quiet = false }: { quiet?: boolean } = {},
): Promise<number> {
  const child = spawn(program, args, {
    cwd: ROOT,
    env,
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', 'inherit'],
  });
  const held: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => held.push(chunk));
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
    process.stdout.write(Buffer.concat(held));
  }
}
