import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll } from 'vitest';
import { pino } from 'pino';
import { systemClock } from '../../kube/clock.ts';
import type { RuntimeDriver } from '../../runtime/driver.ts';
import { createDockerDriver } from '../../runtime/drivers/docker/driver.ts';
import { FakeDriver } from '../../runtime/drivers/fake/fake-driver.ts';
import { labImageTar, selectedConfigs, useDaemon, type DockerConfig, type LabDaemon } from '../lab/daemon.ts';
import { fakeMachineWanted, openFake } from '../lab/fake.ts';
import { fakeProgram } from './commands.ts';

/** What a runtime can hold to, as known from its configuration. */
interface Can {
  memory: boolean;
  swap: boolean;
  pids: boolean;
  cpu: boolean;
}

export interface Rig {
  readonly name: string;
  readonly can: Can;
  readonly driver: RuntimeDriver;
  /** undefined for the fake. */
  readonly daemon: LabDaemon | undefined;
  /** Somebody else's pause. */
  pause(name: string): Promise<void>;
}

export const SUITE_LABEL = 'holdfast.dev/contract-suite';
export const IMAGE = 'holdfast-contract:1';

const ALL: Can = { memory: true, swap: true, pids: true, cpu: true };
const CAN: Record<DockerConfig, Can> = {
  'docker-v1': ALL,
  'docker-v2': ALL,
  'docker-v2-nomem': { ...ALL, memory: false, swap: false },
  'docker-v2-nopids': { ...ALL, pids: false },
  'docker-v2-nocpu': { ...ALL, cpu: false },
  'docker-v2-rootcg': { ...ALL, swap: false },
  'docker-v2-swap': ALL,
};

type RigName = DockerConfig | 'fake' | typeof FAKE_MACHINE;
/** The fake driver with real processes behind it. */
const FAKE_MACHINE = 'fake with processes';

const machineWanted = await fakeMachineWanted();

export function rigNames(): RigName[] {
  return [...selectedConfigs(), 'fake', ...(machineWanted ? ([FAKE_MACHINE] as const) : [])];
}

/** For a describe block: ready before its tests, the suite's containers and volumes removed after them. */
export function useRig(name: RigName): { readonly current: Rig } {
  const daemon = name === 'fake' || name === FAKE_MACHINE ? undefined : useDaemon(name);
  let rig: Rig | undefined;
  let close = (): void | Promise<void> => {};

  beforeAll(async () => {
    if (name === FAKE_MACHINE) {
      const { driver, machine } = await openFake(IMAGE);
      close = () => machine.close();
      rig = { name, can: ALL, driver, daemon: undefined, pause: (id) => Promise.resolve(driver.pause(id)) };
      return;
    }
    if (daemon === undefined || name === 'fake') {
      const driver = new FakeDriver({ clock: systemClock, program: fakeProgram });
      await driver.importImage(Readable.from([Buffer.from('root')]), { image: IMAGE });
      rig = { name, can: ALL, driver, daemon: undefined, pause: (id) => Promise.resolve(driver.pause(id)) };
      return;
    }
    const { socketPath } = daemon.current;
    const driver = createDockerDriver({ socketPath, clock: systemClock, log: pino({ level: 'silent' }) });
    close = () => driver.close();
    const folder = await mkdtemp(join(tmpdir(), 'hf-image-'));
    try {
      await labImageTar(join(folder, 'image.tar'));
      await driver.importImage(createReadStream(join(folder, 'image.tar')), {
        image: IMAGE,
        labels: { [SUITE_LABEL]: 'image' },
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const pause = async (id: string): Promise<void> => {
      await daemon.current.exec(
        `curl -sSf --unix-socket ${name === 'docker-v1' ? socketPath : '/run/docker.sock'} -X POST http://d/containers/${id}/pause`,
      );
    };
    rig = { name, can: CAN[name], driver, daemon: daemon.current, pause };
    await clean(driver);
  }, 170_000);

  afterAll(async () => {
    if (rig !== undefined) await clean(rig.driver);
    await close();
  }, 170_000);

  return {
    get current() {
      if (rig === undefined) throw new Error(`${name} is not ready`);
      return rig;
    },
  };
}

async function clean(driver: RuntimeDriver): Promise<void> {
  const labels = { [SUITE_LABEL]: 'yes' };
  for (const { id } of await driver.listContainers({ labels })) await driver.removeContainer(id, {});
  for (const { name } of await driver.listVolumes({ labels })) await driver.removeVolume(name, {});
}
