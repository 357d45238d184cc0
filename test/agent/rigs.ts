import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../kube/clock.ts';
import { FakeDriver } from '../../runtime/drivers/fake/fake-driver.ts';
import { FakeMachine } from '../../runtime/drivers/fake/machine/machine.ts';
import { type DockerConfig, fakeSelected, labImageTar, selectedConfigs, useDaemon } from '../lab/daemon.ts';
import { openWorld, type World } from './world.ts';

/** What the agent's suite runs on: the lab's daemons, and the fake driver with real processes behind it. */
export type AgentRig = DockerConfig | 'fake';

const noMachine = fakeSelected() ? await FakeMachine.missing() : undefined;

export function agentRigs(): AgentRig[] {
  return [...selectedConfigs(), ...fakeRigs()];
}

/** The fake, if it was not deselected and there can be one here. */
export function fakeRigs(): 'fake'[] {
  if (noMachine !== undefined) console.log(`agent on fake: not run, ${noMachine}`);
  return fakeSelected() && noMachine === undefined ? ['fake'] : [];
}

/** For a describe block: opens a world on it in a `beforeAll` of the block's own. */
export function useAgentRig(name: AgentRig): { open(): Promise<World> } {
  if (name === 'fake') {
    const fake = useFake();
    return { open: () => openWorld({ driver: fake.current }) };
  }
  const daemon = useDaemon(name);
  return { open: () => openWorld({ socketPath: daemon.current.socketPath }) };
}

/** For a describe block: a fake driver on a machine of its own, with the lab's image. */
export function useFake(): { readonly current: FakeDriver; readonly machine: FakeMachine } {
  let machine: FakeMachine | undefined;
  let driver: FakeDriver | undefined;
  beforeAll(async () => {
    machine = await FakeMachine.open();
    driver = new FakeDriver({ clock: systemClock, machine });
    const folder = await mkdtemp(join(tmpdir(), 'hf-image-'));
    try {
      await labImageTar(join(folder, 'image.tar'));
      await driver.importImage(createReadStream(join(folder, 'image.tar')), { image: 'busybox:lab' });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
  // Registered before those of the block, so run after them: vitest runs them in reverse.
  afterAll(() => machine?.close());
  const there = <T>(what: T | undefined): T => {
    if (what === undefined) throw new Error('the fake is not ready yet');
    return what;
  };
  return {
    get current() {
      return there(driver);
    },
    get machine() {
      return there(machine);
    },
  };
}
