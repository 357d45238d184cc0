import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../kube/testing/fake-clock.ts';
import { FakeDriver } from '../../drivers/fake/fake-driver.ts';
import type { ProbeKeeper } from '../probe/keeper.ts';
import { Runtime } from './runtime.ts';

function setUp() {
  const clock = new FakeClock();
  const driver = new FakeDriver({ clock });
  let asked = 0;
  const inspect = driver.inspectImage.bind(driver);
  driver.inspectImage = (image, options) => {
    asked += 1;
    return inspect(image, options);
  };
  const probe = { probe: undefined, wentAtMs: undefined } as unknown as ProbeKeeper;
  return { runtime: new Runtime({ driver, probe, clock }), asked: () => asked };
}

describe('images of a runtime', () => {
  it('asks once for those that ask at once, and again for who asks later', async () => {
    const { runtime, asked } = setUp();
    expect(await Promise.all([runtime.image('a'), runtime.image('a'), runtime.image('b')])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(asked()).toBe(2);
    await runtime.image('a');
    expect(asked()).toBe(3);
  });
});
