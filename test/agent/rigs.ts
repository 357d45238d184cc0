import { afterAll, beforeAll } from 'vitest';
import type { FakeDriver } from '../../runtime/drivers/fake/fake-driver.ts';
import type { FakeMachine } from '../../runtime/drivers/fake/machine/machine.ts';
import { type DockerConfig, selectedConfigs, useDaemon } from '../lab/daemon.ts';
import { fakeMachineWanted, openFake } from '../lab/fake.ts';
import { openWorld, type World } from './world.ts';

/** What the agent's suite runs on: the lab's daemons, and the fake driver with real processes behind it. */
export type AgentRig = DockerConfig | 'fake';

/** Whether the fake is one of them; what no daemon does is tried on it alone. */
export const hasFake = await fakeMachineWanted();

export function agentRigs(): AgentRig[] {
  return hasFake ? [...selectedConfigs(), 'fake'] : selectedConfigs();
}

/** For a describe block: `open` in a `beforeAll` of the block's own. */
export function useAgentRig(name: AgentRig): { open(): Promise<World> } {
  if (name === 'fake') {
    const fake = useFake();
    return { open: () => openWorld({ driver: fake.driver }) };
  }
  const daemon = useDaemon(name);
  return { open: () => openWorld({ socketPath: daemon.current.socketPath }) };
}

/** For a describe block: ready before its tests, and gone with all that runs in it after them. */
export function useFake(): { readonly driver: FakeDriver; readonly machine: FakeMachine } {
  let fake: Awaited<ReturnType<typeof openFake>> | undefined;
  beforeAll(async () => {
    fake = await openFake('busybox:lab');
  });
  afterAll(() => fake?.machine.close());
  const there = (): Awaited<ReturnType<typeof openFake>> => {
    if (fake === undefined) throw new Error('the fake is not ready yet');
    return fake;
  };
  return {
    get driver() {
      return there().driver;
    },
    get machine() {
      return there().machine;
    },
  };
}
