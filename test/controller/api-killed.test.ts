import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { docker, sandboxNode } from '../../controller/testing/objects.ts';
import { condition, eventually, World } from '../../controller/testing/world.ts';
import { FINALIZER } from '../../crds/group.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import { systemClock } from '../../kube/clock.ts';
import { createKubeClient } from '../../kube/http-client.ts';
import { SANDBOXES } from '../../kube/resources.ts';

const Gi = 1024 ** 3;

interface Access {
  server: string;
  caData: string;
  token: string;
}

/** An API server that is killed with -9 and started again on the same folder and port. */
describe('the controller on the embedded API that is killed under it', () => {
  let dataDir: string;
  let child: ChildProcess;
  let access: Access;

  const start = async (port: string): Promise<void> => {
    child = fork(join(import.meta.dirname, 'api-process.ts'), [dataDir, port]);
    [access] = (await once(child, 'message')) as [Access];
  };
  const kill = async (): Promise<void> => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'holdfast-killed-'));
    await start('0');
  });

  afterAll(async () => {
    await kill();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('[K5] three kills while forty sandboxes are placed: each ends up once, and no node with more than it has', async () => {
    const client = createKubeClient({ ...access, userAgent: 'holdfast-test' });
    const world = new World({ client, clock: systemClock });
    const port = new URL(access.server).port;
    await world.node(sandboxNode('a', { runtimes: [docker({ memoryBytes: 16 * Gi })] }));
    await world.node(sandboxNode('b', { runtimes: [docker({ memoryBytes: 8 * Gi })] }));
    world.start();
    const creating = Promise.all(
      Array.from({ length: 40 }, async (_, i) =>
        eventually(
          async () =>
            world.create(`s${i}`, { resources: { memory: '1g' } }).then(
              () => true,
              async () => (await world.get(`s${i}`).catch(() => undefined)) !== undefined,
            ),
          () => `s${i} could not be created`,
          60_000,
        ),
      ),
    );
    for (let kills = 1; kills <= 3; kills += 1) {
      const boundBefore = kills * 4;
      await eventually(
        async () => (await bound(world)).length >= boundBefore,
        () => 'too few were bound',
        60_000,
      );
      await kill();
      await start(port);
    }
    await creating;
    await eventually(
      async () => {
        await Promise.all(['a', 'b'].map(async (node) => world.beat(node)));
        const all = await listed(world);
        return all.length === 40 && all.every((sandbox) => condition(sandbox, 'Scheduled') !== 'none');
      },
      () => 'not every sandbox was decided',
      90_000,
    );
    await eventually(
      async () => (await bound(world)).length === 24,
      () => 'room was left',
      60_000,
    );
    const all = await bound(world);
    expect(all.filter((sandbox) => sandbox.status?.nodeName === 'a')).toHaveLength(16);
    expect(all.filter((sandbox) => sandbox.status?.nodeName === 'b')).toHaveLength(8);
    for (const sandbox of all) expect(sandbox.metadata.finalizers).toEqual([FINALIZER]);
    await world.stop();
    client.close();
  });
});

async function listed(world: World): Promise<Sandbox[]> {
  return world.client.list<Sandbox>(SANDBOXES, { namespace: world.namespace }).then(
    ({ items }) => items,
    () => [],
  );
}

async function bound(world: World): Promise<Sandbox[]> {
  return (await listed(world)).filter((sandbox) => (sandbox.status?.nodeName ?? '') !== '');
}
