import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selectedConfigs, useDaemon } from '../lab/daemon.ts';
import { condition, openWorld, type World } from './world.ts';

describe.each(selectedConfigs(['docker-v1']))('agent on %s', (config) => {
  const daemon = useDaemon(config);
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ socketPath: daemon.current.socketPath });
  });
  afterAll(() => world.close());

  it('[L11] runs a sandbox to its end, with its limits read back before', async () => {
    const sandbox = await world.create('hello', {
      command: ['sh', '-c', 'echo hello; echo oops >&2; exit 0'],
      resources: { memory: '64Mi', cpu: '500m', pids: 32 },
    });
    const done = await world.awaits(sandbox, 'Complete', 'True');
    expect(condition(done, 'LimitsEnforced')).toMatchObject({ status: 'True', reason: 'ReadBack' });
    expect(await world.output(sandbox)).toBe('hello\noops\n');
  });
});
