import { expect } from 'vitest';
import {
  condition as conditionObject,
  docker,
  lease,
  sandboxNode,
} from '../../controller/testing/objects.ts';
import { condition, World } from '../../controller/testing/world.ts';
import { SYSTEM_NAMESPACE } from '../../controller/system-namespace.ts';
import { FINALIZER } from '../../crds/group.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import { systemClock } from '../../kube/clock.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Lease } from '../../kube/lease.ts';
import { isNotFound } from '../../kube/errors.ts';
import { LEASES, NAMESPACES } from '../../kube/resources.ts';
import { until } from '../until.ts';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
/** So soon the third node is lost, and so soon after that its sandbox has ended by itself. */
const LEASE_SECONDS = 1;
const BOUND = 'True Bound';
const WAITING = 'False Unschedulable';
const GONE = conditionObject('ContainerGone', 'True', 'ContainerRemoved');

/**
 * Everything that a controller writes, with the agents' part played by hand: two nodes with room for one each and three
 * that want it, a deletion that makes room, an end by the time to live, and a lost node whose sandbox is taken back.
 */
export async function story(client: KubeClient): Promise<void> {
  const world = new World({ client, clock: systemClock });
  const sees = async (
    name: string,
    what: string,
    holds: (sandbox: Sandbox | undefined) => boolean,
  ): Promise<Sandbox | undefined> => {
    const look = async (): Promise<{ sandbox: Sandbox | undefined } | undefined> => {
      const sandbox = await world.get(name);
      return holds(sandbox) ? { sandbox } : undefined;
    };
    const found = await until(`${name} ${what}`, look, { seen: () => world.get(name) });
    return found.sandbox;
  };
  // The controller makes it, and nobody else before it does.
  await until('the system namespace', () =>
    client.get(NAMESPACES, { name: SYSTEM_NAMESPACE }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    }),
  );
  for (const name of ['a', 'b'])
    await world.node(sandboxNode(name, { runtimes: [docker({ memoryBytes: GIB })] }));
  const small = { runtimes: [docker({ memoryBytes: 64 * MIB })], labels: { lost: 'soon' } };
  await world.node(sandboxNode('c', small));
  await world.create('moved', { nodeSelector: { lost: 'soon' }, onNodeLoss: 'Replace' });
  await sees('moved', 'bound', isBound);

  const names = ['s0', 's1', 's2'];
  for (const name of names) await world.create(name, { resources: { memory: '1g' }, command: ['true'] });
  const all = await until('two that are bound and one that waits', async () => {
    const states = await Promise.all(
      names.map(async (name) => condition(await world.get(name), 'Scheduled')),
    );
    return states.toSorted().join() === [WAITING, BOUND, BOUND].join() ? states : undefined;
  });
  const [goes = '', stays = ''] = names.filter((_, index) => all[index] === BOUND);
  const waits = names[all.indexOf(WAITING)] ?? '';

  await world.delete(goes);
  await world.agentSays(goes, (status) => ({ ...status, conditions: [...(status.conditions ?? []), GONE] }));
  await sees(goes, 'gone', isGone);
  await sees(waits, 'bound', isBound);

  await world.edit(stays, { ttlSecondsAfterFinished: 1 });
  await world.agentSays(stays, (status) => ({
    ...status,
    finishedAt: new Date().toISOString(),
    conditions: [conditionObject('Complete', 'True', 'Succeeded'), GONE],
  }));
  await sees(stays, 'gone', isGone);

  await world.agentSays('moved', (status) => ({ ...status, fenceSeconds: LEASE_SECONDS }));
  await shortenLease(client, 'c');
  await sees('moved', 'taken back', (now) => (now?.status?.nodeName ?? '') === '');
  await world.beat('c');
  const moved = await sees('moved', 'bound', isBound);
  expect(moved?.status?.nodeName).toBe('c');
  expect(moved?.metadata.finalizers).toEqual([FINALIZER]);
  expect((await world.get(waits))?.metadata.finalizers).toEqual([FINALIZER]);
}

async function shortenLease(client: KubeClient, node: string): Promise<void> {
  const ref = { namespace: SYSTEM_NAMESPACE, name: node };
  await client.update(LEASES, {
    ...(await client.get<Lease>(LEASES, ref)),
    spec: lease(node, new Date(), { leaseDurationSeconds: LEASE_SECONDS }).spec,
  });
}

const isBound = (sandbox: Sandbox | undefined): boolean => condition(sandbox, 'Scheduled') === BOUND;
const isGone = (sandbox: Sandbox | undefined): boolean => sandbox === undefined;
