import type { Sandbox } from '../../crds/sandbox.ts';
import type { ContainerEvent, Expected, History, ObjectWrite } from './history.ts';

/** Of the recorder: a write is seen this long after it was made, at most. */
const SLACK_MS = 1500;
const ORPHAN_MS = 60_000;
/** Besides Events, by all components together, whatever went wrong meanwhile. */
const MOST_WRITES_PER_SANDBOX = 60;
/** Renewals of leases are no writes of this count; a node says what it can do once a minute. */
const MOST_CALM_WRITES = 3;
const MOST_CALM_READS_PER_SECOND = 3;

/** What must hold whatever happened; answers each breach in a sentence. */
export const invariants: Readonly<Record<string, (history: History) => string[]>> = {
  'never two containers for one Sandbox': neverTwoContainers,
  'a container runs on the node that has its Sandbox alone': onlyOnItsNode,
  'no container without a Sandbox after a minute': noOrphans,
  'no Sandbox is stuck': nothingStuck,
  'no acknowledged write is lost': noLostWrite,
  'requests are bounded': requestsBounded,
};

interface Life {
  node: string;
  uid: string;
  id: string;
  fromMs: number;
  toMs: number;
}

/** From start to end of each run of each container. */
function runsOf({ containers, endMs }: History): Life[] {
  const open = new Map<string, ContainerEvent>();
  const runs: Life[] = [];
  const close = (started: ContainerEvent, toMs: number): void => {
    const { node, uid, id, atMs } = started;
    runs.push({ node, uid, id, fromMs: atMs, toMs });
  };
  for (const event of containers.toSorted((a, b) => a.atMs - b.atMs)) {
    const key = `${event.node}/${event.id}`;
    const started = open.get(key);
    if (event.action === 'start') open.set(key, event);
    else if (event.action !== 'create' && started !== undefined) {
      close(started, event.atMs);
      open.delete(key);
    }
  }
  for (const started of open.values()) close(started, endMs);
  return runs;
}

function neverTwoContainers(history: History): string[] {
  const found: string[] = [];
  const runs = runsOf(history).toSorted((a, b) => a.fromMs - b.fromMs);
  for (const [index, run] of runs.entries()) {
    for (const other of runs.slice(index + 1)) {
      if (other.uid !== run.uid || other.fromMs >= run.toMs) continue;
      found.push(
        `${run.uid}: ${run.id.slice(0, 12)} on ${run.node} until ${time(run.toMs)} and ${other.id.slice(0, 12)} on ${other.node} from ${time(other.fromMs)}`,
      );
    }
  }
  return found;
}

function onlyOnItsNode(history: History): string[] {
  const byUid = writesByUid(history.writes);
  return history.containers
    .filter(({ action }) => action === 'start')
    .flatMap(({ uid, node, atMs }) => {
      const nodes = nodesAt(byUid.get(uid) ?? [], atMs);
      return nodes.includes(node)
        ? []
        : [
            `${uid}: started on ${node} at ${time(atMs)}, when it was given to ${nodes.join(' or ') || 'none'}`,
          ];
    });
}

/** The node that had it then, and those of writes that may have come at the same moment. */
function nodesAt(writes: readonly ObjectWrite[], atMs: number): string[] {
  const nodes = new Set<string>();
  let before = '';
  for (const { atMs: seenMs, sandbox, deleted } of writes) {
    const node = deleted ? '' : (sandbox.status?.nodeName ?? '');
    if (seenMs <= atMs - SLACK_MS) before = node;
    else if (seenMs <= atMs + SLACK_MS) nodes.add(node);
  }
  nodes.add(before);
  nodes.delete('');
  return [...nodes];
}

function noOrphans({ containers, writes, endMs }: History): string[] {
  const goneMs = new Map<string, number>();
  for (const { sandbox, deleted, atMs } of writes) if (deleted) goneMs.set(sandbox.metadata.uid ?? '', atMs);
  const destroyedMs = new Map<string, number>();
  for (const { action, id, atMs } of containers) if (action === 'destroy') destroyedMs.set(id, atMs);
  return containers
    .filter(({ action }) => action === 'create')
    .flatMap(({ uid, id, node }) => {
      const without = goneMs.get(uid);
      if (without === undefined) return [];
      const lastedMs = (destroyedMs.get(id) ?? endMs) - without;
      return lastedMs <= ORPHAN_MS
        ? []
        : [
            `${id.slice(0, 12)} on ${node}: still there ${Math.round(lastedMs / 1000)} s after Sandbox ${uid}`,
          ];
    });
}

function nothingStuck({ writes, expected }: History): string[] {
  const last = new Map<string, ObjectWrite>();
  for (const write of writes) last.set(write.key, write);
  return [...expected].flatMap(([key, wanted]) => {
    const now = last.get(key);
    const is = now === undefined || now.deleted ? undefined : now.sandbox;
    return hasBecome(is, wanted) ? [] : [`${key}: is to be ${wanted}, and is ${describe(is)}`];
  });
}

/** Whether it is what it has to become. */
export function hasBecome(sandbox: Sandbox | undefined, wanted: Expected): boolean {
  if (wanted === 'gone' || sandbox === undefined) return (sandbox === undefined) === (wanted === 'gone');
  const { generation, deletionTimestamp } = sandbox.metadata;
  if (deletionTimestamp !== undefined || sandbox.status?.observedGeneration !== generation) return false;
  const condition = (type: string): string => {
    const found = sandbox.status?.conditions?.find((one) => one.type === type);
    return `${found?.status ?? ''} ${found?.reason ?? ''}`;
  };
  if (wanted === 'Ready') return condition('Ready').startsWith('True');
  if (wanted === 'Suspended') return condition('Suspended').startsWith('True');
  return condition('Complete') === `True ${wanted}`;
}

function describe(sandbox: Sandbox | undefined): string {
  if (sandbox === undefined) return 'gone';
  const { phase, nodeName, conditions } = sandbox.status ?? {};
  const all = (conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`).join(', ');
  const deleting = sandbox.metadata.deletionTimestamp === undefined ? '' : ', being deleted';
  return `${phase ?? 'without a phase'} on ${nodeName || 'no node'}${deleting}: ${all}`;
}

function noLostWrite({ writes, acknowledged }: History): string[] {
  const revisions = new Set(writes.map(({ revision }) => revision));
  return acknowledged
    .filter(({ resourceVersion }) => !revisions.has(Number(resourceVersion)))
    .map(({ who, what, resourceVersion }) => `${who}: ${what} was acknowledged as ${resourceVersion}`);
}

function requestsBounded({ writesPerSandbox, calm }: History): string[] {
  const sums = new Map<string, number>();
  for (const { path, count } of writesPerSandbox) sums.set(path, (sums.get(path) ?? 0) + count);
  const found = [...sums]
    .filter(([, count]) => count > MOST_WRITES_PER_SANDBOX)
    .map(([path, count]) => `${count} writes of ${path}, more than ${MOST_WRITES_PER_SANDBOX}`);
  for (const { who, what, count } of calm.calls) {
    const most = what === 'writes' ? MOST_CALM_WRITES : calm.seconds * MOST_CALM_READS_PER_SECOND;
    if (count > most) found.push(`${who}: ${count} ${what} in ${calm.seconds} s without a change`);
  }
  return found;
}

function writesByUid(writes: readonly ObjectWrite[]): Map<string, ObjectWrite[]> {
  const byUid = new Map<string, ObjectWrite[]>();
  for (const write of writes) {
    const uid = write.sandbox.metadata.uid ?? '';
    const list = byUid.get(uid);
    if (list === undefined) byUid.set(uid, [write]);
    else list.push(write);
  }
  return byUid;
}

function time(ms: number): string {
  return new Date(ms).toISOString().slice(11, 23);
}
