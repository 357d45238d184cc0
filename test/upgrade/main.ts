/**
 * `make test-upgrade`: controllers and agent are replaced by a newer build, once in order and once killed, while 50
 * sandboxes run and 5 a second come and go, on a kube-apiserver and docker-v1. None may be restarted, none lost.
 * UPGRADE_FROM names the commit to upgrade from; without it the older build has the same sources and another init.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crdManifests } from '../../crds/crd-manifests.ts';
import type { SandboxNode } from '../../crds/sandbox-node.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import type { KubeObject } from '../../kube/client.ts';
import { createKubeClient } from '../../kube/http-client.ts';
import type { Lease } from '../../kube/lease.ts';
import { CRDS, LEASES, SANDBOX_NODES, SANDBOXES } from '../../kube/resources.ts';
import { startCluster } from '../cluster/start.ts';
import { until } from '../until.ts';
import { type Build, buildHere, buildOf } from './builds.ts';
import { Load, sandboxNamed } from './load.ts';
import { Starts } from './starts.ts';

const RUNNING = Number(process.env['UPGRADE_RUNNING'] ?? 50);
const PER_SECOND = Number(process.env['UPGRADE_PER_SECOND'] ?? 5);
const NODE = 'upgraded';
const SYSTEM = 'holdfast-system';
const LAB = join(import.meta.dirname, '../lab/lab');

const folder = mkdtempSync(join(tmpdir(), 'hfu-'));
const children = new Set<ChildProcess>();
const labEnv = { ...process.env, LAB_DIR: join(folder, 'lab') };
const say = (text: string): void => console.log(text);

function run(build: Build, name: string, args: string[]): ChildProcess {
  const log = openSync(join(folder, `${name}.log`), 'a');
  const child = spawn(build.command, args, {
    stdio: ['ignore', log, log],
    env: { ...process.env, HOLDFAST_LOG_FORMAT: 'json' },
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await gone;
}

async function main(): Promise<string[]> {
  const from = process.env['UPGRADE_FROM'];
  const older =
    from === undefined
      ? buildHere(join(folder, 'older'), '0.0.1-older')
      : buildOf(from, join(folder, 'older'));
  const newer = buildHere(join(folder, 'newer'), '9.0.0-newer');
  const socketPath = execFileSync(LAB, ['up', 'docker-v1'], { env: labEnv, encoding: 'utf8' }).trim();
  const cluster = await startCluster();
  const client = createKubeClient({
    server: cluster.url,
    token: cluster.token,
    insecureSkipTLSVerify: true,
    userAgent: 'upgrade-test',
  });
  const starts = await Starts.follow(socketPath);
  try {
    for (const crd of crdManifests() as unknown as KubeObject[]) await client.create(CRDS, crd);
    await until('the kinds', () =>
      client.list(SANDBOXES, {}).then(
        () => true,
        () => undefined,
      ),
    );
    const api = ['--kubeconfig', cluster.kubeconfig];
    const controller = (build: Build, identity: string): ChildProcess =>
      run(build, identity, ['controller', ...api, '--identity', identity]);
    const agent = (build: Build, name: string): ChildProcess =>
      run(build, name, [
        'agent',
        ...api,
        '--node-name',
        NODE,
        '--docker',
        `unix://${socketPath}`,
        '--data-dir',
        join(folder, 'data'),
      ]);
    const leader = (): Promise<string> =>
      client
        .get<Lease>(LEASES, { namespace: SYSTEM, name: 'holdfast-controller' })
        .then(({ spec }) => spec?.holderIdentity ?? '');
    const version = (): Promise<string | undefined> =>
      client.get<SandboxNode>(SANDBOX_NODES, { name: NODE }).then(({ status }) => status?.agent?.version);
    const readyOn = (build: Build): Promise<true> =>
      until(
        `the agent ${build.version}`,
        async () => (await version().catch(() => undefined)) === build.version,
      );

    const old = [controller(older, 'old-1'), controller(older, 'old-2')];
    let node = agent(older, 'old-agent');
    await readyOn(older);
    await client.patch(SANDBOX_NODES, { name: NODE }, { spec: { maxSandboxes: 1000 } }, { type: 'merge' });
    for (let i = 0; i < RUNNING; i += 1) {
      const kind = i % 2 === 0 ? { command: ['sleep', '100000'] } : {};
      await client.create(SANDBOXES, sandboxNamed(`running-${i}`, kind));
    }
    const running = async (): Promise<Sandbox[]> =>
      (await client.list<Sandbox>(SANDBOXES, {})).items.filter(({ metadata }) =>
        metadata.name.startsWith('running-'),
      );
    const isReady = ({ status }: Sandbox): boolean =>
      status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
    const allReady = (): Promise<Sandbox[]> =>
      until(
        `${RUNNING} sandboxes to run`,
        async () => {
          const all = await running();
          return all.length === RUNNING && all.every(isReady) ? all : undefined;
        },
        { everyMs: 500, withinMs: 240_000 },
      );
    /** What a newer agent makes of an older init, where the policy wants more than the first ones could. */
    const fenceOf = async (name: string): Promise<string> => {
      const ref = { namespace: 'default', name };
      await client.patch(SANDBOXES, ref, { spec: { onNodeLoss: 'Replace' } }, { type: 'merge' });
      return until(`word of the fence of ${name}`, async () => {
        const { status } = await client.get<Sandbox>(SANDBOXES, ref);
        if (status?.fenceSeconds !== undefined) return `it does, after ${status.fenceSeconds} s`;
        const message = status?.conditions?.find(({ type }) => type === 'Ready')?.message;
        return message?.includes('cannot end it by itself') === true
          ? `it cannot, and "${message}"`
          : undefined;
      });
    };
    const before = new Map((await allReady()).map((one) => [one.metadata.name, one]));
    say(`${RUNNING} sandboxes run under ${older.version}`);

    const load = new Load(client);
    load.begin(PER_SECOND);
    const more = async (count: number): Promise<void> => {
      const aim = load.succeeded + count;
      await until(`${count} more to come and go`, () => load.succeeded >= aim, { withinMs: 240_000 });
    };
    await more(20);
    // Each new controller waits beside the old ones before one of those goes, as a Deployment rolls.
    const fresh = [controller(newer, 'new-1')];
    await end(old[0] as ChildProcess, 'SIGTERM');
    fresh.push(controller(newer, 'new-2'));
    await end(old[1] as ChildProcess, 'SIGTERM');
    await until('a new leader', async () => (await leader().catch(() => '')).startsWith('new-'));
    say(`controllers replaced, ${await leader()} leads`);
    await more(20);
    await end(node, 'SIGTERM');
    node = agent(newer, 'new-agent');
    await readyOn(newer);
    say('agent replaced in order');
    await more(20);
    await end(node, 'SIGKILL');
    node = agent(newer, 'new-agent');
    say('agent killed and started again');
    await more(20);
    await end(fresh[0] as ChildProcess, 'SIGKILL');
    say('a controller killed');
    await more(20);
    const can = await fenceOf('running-1');
    say(`an init of ${older.version}, asked to end its sandbox by itself when the node is lost: ${can}`);
    const result = await load.end();
    const after = await allReady();

    const wrong = [...result.others];
    if (result.succeeded !== result.created)
      wrong.push(`${result.created - result.succeeded} did not succeed`);
    for (const one of after) {
      const { name, uid = '' } = one.metadata;
      const was = before.get(name)?.status;
      if (one.status?.containerID !== was?.containerID) wrong.push(`${name} has another container`);
      if (one.status?.startedAt !== was?.startedAt) wrong.push(`${name} began anew`);
      if (starts.of.get(uid) !== 1) wrong.push(`${name} was started ${starts.of.get(uid)} times`);
    }
    for (const uid of result.uids) {
      if (starts.of.get(uid) !== 1)
        wrong.push(`the short one ${uid} was started ${starts.of.get(uid)} times`);
    }
    say(
      `${after.length} of ${RUNNING} ran on in their containers; ${result.created} came, ${result.succeeded} succeeded and went`,
    );
    return wrong;
  } finally {
    starts.stop();
    await Promise.all([...children].map((child) => end(child, 'SIGTERM')));
    client.close();
    await cluster.close();
  }
}

let wrong: string[];
try {
  wrong = await main();
} catch (error) {
  wrong = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
} finally {
  execFileSync(LAB, ['down-all'], { env: labEnv, stdio: 'ignore' });
}
for (const line of wrong) say(`WRONG: ${line}`);
if (wrong.length === 0) rmSync(folder, { recursive: true, force: true });
else say(`logs are in ${folder}`);
say(
  wrong.length === 0
    ? 'upgrade under load: nothing restarted, nothing lost'
    : `${wrong.length} things went wrong`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;
