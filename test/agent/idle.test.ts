import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { KubeClient } from '../../kube/client.ts';
import { LEASES } from '../../kube/resources.ts';
import { selectedConfigs, useDaemon } from '../lab/daemon.ts';
import { until } from '../until.ts';
import { openWorld, type World } from './world.ts';

const SANDBOXES_HELD = 50;
const RENEWALS = 3;

/** Writes of the controller and the agent to the API, as "update leases". */
function countWrites(client: KubeClient): string[] {
  const writes: string[] = [];
  for (const verb of ['create', 'update', 'patch', 'delete'] as const) {
    const real = client[verb].bind(client) as (...args: unknown[]) => unknown;
    vi.spyOn(client, verb).mockImplementation(((...args: unknown[]) => {
      writes.push(`${verb} ${(args[0] as { plural: string }).plural}`);
      return real(...args);
    }) as never);
  }
  return writes;
}

describe.each(selectedConfigs(['docker-v1']))('idle on %s', (config) => {
  const daemon = useDaemon(config);
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ socketPath: daemon.current.socketPath });
  });
  afterAll(async () => {
    await world.removeAll();
    await world.close();
  });

  it(`[K5] with ${SANDBOXES_HELD} sandboxes held nothing is written but leases`, {
    timeout: 600_000,
  }, async () => {
    const held = await Promise.all(
      Array.from({ length: SANDBOXES_HELD }, (_, index) => world.create(`held-${index}`, {})),
    );
    for (const sandbox of held) await world.awaits(sandbox, 'Ready', 'True', 'Running');

    const writes = countWrites(world.client);
    const renewals = (): number => writes.filter((write) => write.endsWith(` ${LEASES.plural}`)).length;
    // What the launches still had to say (events, the last status) is said by the first renewal.
    await until('a renewal', () => (renewals() >= 1 ? true : undefined));
    const before = writes.length;
    const from = renewals();
    await until('further renewals', () => (renewals() >= from + RENEWALS ? true : undefined));
    const idle = writes.slice(before);
    expect(idle.filter((write) => !write.endsWith(` ${LEASES.plural}`))).toEqual([]);
    vi.restoreAllMocks();
  });
});
