import type { SandboxNode } from '../crds/sandbox-node.ts';
import type { Sandbox } from '../crds/sandbox.ts';
import type { KubeClient } from '../kube/client.ts';
import { sleep, systemClock, type Clock } from '../kube/clock.ts';
import { isNotFound } from '../kube/errors.ts';
import { SANDBOX_NODES, SANDBOXES } from '../kube/resources.ts';
import { type ClusterConfig, localSource } from './config.ts';
import { connect } from './connect.ts';
import { Failure } from './failure.ts';
import { type IO, write } from './io.ts';

export type CordonConfig = ClusterConfig & { dataDir: string };
export type DrainConfig = CordonConfig & { dryRun?: boolean; grace: number; delete?: boolean };

/** What becomes of one sandbox when its node is drained. */
export type Fate = 'ended' | 'moved' | 'ends by itself' | 'stays';

const LOOK_MS = 1000;

/** By what the API says of it. Pure. */
export function fateOf({ spec, status, metadata }: Sandbox): Fate {
  const is = (type: string): boolean =>
    status?.conditions?.some((one) => one.type === type && one.status === 'True') ?? false;
  if (is('Complete')) return 'ended';
  const begun = status?.startedAt !== undefined || status?.limits !== undefined;
  if (metadata.deletionTimestamp !== undefined) return 'ends by itself';
  if (!begun) return 'moved';
  if (spec.onNodeLoss === 'Replace') return is('Stalled') ? 'stays' : 'moved';
  const runs = (spec.command ?? []).length > 0 || (spec.args ?? []).length > 0;
  return runs && !is('Stalled') && spec.suspend !== true ? 'ends by itself' : 'stays';
}

const WORDS: Record<Fate, string> = {
  ended: 'has ended; its object stays',
  moved: 'is ended here and placed anew',
  'ends by itself': 'runs to completion; it is waited for',
  stays: 'is kept on this node (onNodeLoss: Keep), and its filesystem with it',
};

/** `holdfast cordon` and `uncordon`. */
export async function cordon(
  name: string,
  unschedulable: boolean,
  config: CordonConfig,
  io: IO,
): Promise<void> {
  await withClient(config, io, async (client) => {
    await change(client, name, { unschedulable, ...(!unschedulable && { drain: null }) }, io);
    await write(io.stdout, `sandboxnode ${name} ${unschedulable ? 'cordoned' : 'uncordoned'}\n`);
  });
}

/** `holdfast drain`: nothing new comes, and what is there goes, as gently as its own spec says. */
export async function drain(
  name: string,
  config: DrainConfig,
  io: IO,
  clock: Clock = systemClock,
): Promise<void> {
  await withClient(config, io, async (client) => {
    const before = await sandboxesOn(client, name, io);
    if (config.dryRun === true) {
      await node(client, name, io);
      for (const one of before) await tell(io, one, ' (dry run)');
      return;
    }
    await change(client, name, { unschedulable: true, drain: true }, io);
    await write(io.stdout, `sandboxnode ${name} cordoned, and draining\n`);
    for (const one of before) await tell(io, one, '');
    const until = clock.monotonicMs() + config.grace * 1000;
    let left = await unfinished(client, name, io);
    while (left.some(goes) && clock.monotonicMs() < until && !io.stop.aborted) {
      await sleep(clock, LOOK_MS, io.stop);
      left = await unfinished(client, name, io);
    }
    if (left.length > 0 && config.delete === true) left = await deleteAll(client, name, left, io, clock);
    io.stop.throwIfAborted();
    if (left.length === 0) {
      await write(io.stdout, `sandboxnode ${name} drained\n`);
      return;
    }
    const names = left.map(shownName).join(', ');
    throw new Failure(
      `${left.length} of ${name} are still there: ${names}; the node stays cordoned. ` +
        'Wait longer (--grace), or delete them with their filesystems (--delete)',
    );
  });
}

/** Each within its own terminationGracePeriodSeconds; the agent sees to that. */
async function deleteAll(
  client: KubeClient,
  name: string,
  left: Sandbox[],
  io: IO,
  clock: Clock,
): Promise<Sandbox[]> {
  let longestMs = 60_000;
  for (const { metadata, spec } of left) {
    const ref = { namespace: metadata.namespace ?? '', name: metadata.name };
    longestMs = Math.max(longestMs, 60_000 + spec.terminationGracePeriodSeconds * 1000);
    await client
      .delete(SANDBOXES, ref, { ...(metadata.uid !== undefined && { uid: metadata.uid }), signal: io.stop })
      .catch(ignoreMissing);
    await write(io.stdout, `sandbox ${ref.namespace}/${ref.name} deleted\n`);
  }
  const until = clock.monotonicMs() + longestMs;
  let rest = await unfinished(client, name, io);
  while (rest.length > 0 && clock.monotonicMs() < until && !io.stop.aborted) {
    await sleep(clock, LOOK_MS, io.stop);
    rest = await unfinished(client, name, io);
  }
  return rest;
}

function goes(sandbox: Sandbox): boolean {
  return fateOf(sandbox) !== 'stays';
}

async function unfinished(client: KubeClient, name: string, io: IO): Promise<Sandbox[]> {
  return (await sandboxesOn(client, name, io)).filter((one) => fateOf(one) !== 'ended');
}

async function sandboxesOn(client: KubeClient, name: string, io: IO): Promise<Sandbox[]> {
  const items: Sandbox[] = [];
  let continueToken: string | undefined;
  do {
    const page = await client.list<Sandbox>(SANDBOXES, {
      fieldSelector: `status.nodeName=${name}`,
      limit: 500,
      ...(continueToken !== undefined && { continueToken }),
      signal: io.stop,
    });
    items.push(...page.items);
    ({ continueToken } = page);
  } while (continueToken !== undefined);
  return items.sort((a, b) => (shownName(a) < shownName(b) ? -1 : 1));
}

function shownName({ metadata }: Sandbox): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

async function tell(io: IO, sandbox: Sandbox, more: string): Promise<void> {
  await write(io.stdout, `sandbox ${shownName(sandbox)} ${WORDS[fateOf(sandbox)]}${more}\n`);
}

async function change(
  client: KubeClient,
  name: string,
  spec: Record<string, boolean | null>,
  io: IO,
): Promise<void> {
  await client
    .patch<SandboxNode>(SANDBOX_NODES, { name }, { spec }, { type: 'merge', signal: io.stop })
    .catch((error: unknown) => noSuchNode(error, name));
}

async function node(client: KubeClient, name: string, io: IO): Promise<void> {
  await client
    .get<SandboxNode>(SANDBOX_NODES, { name }, { signal: io.stop })
    .catch((error: unknown) => noSuchNode(error, name));
}

function noSuchNode(error: unknown, name: string): never {
  if (isNotFound(error)) throw new Failure(`there is no SandboxNode "${name}"`);
  throw error;
}

function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

async function withClient(
  config: CordonConfig,
  io: IO,
  work: (client: KubeClient) => Promise<void>,
): Promise<void> {
  const { client } = await connect(localSource(config, io.env), {
    component: 'holdfast-cli',
    ...(config.context !== undefined && { context: config.context }),
  });
  try {
    await work(client);
  } finally {
    client.close();
  }
}
