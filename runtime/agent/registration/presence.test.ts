import { describe, expect, it } from 'vitest';
import type { Sandbox, SandboxStatus } from '../../../crds/sandbox.ts';
import { FakeClock } from '../../../kube/testing/fake-clock.ts';
import { NotNow } from '../not-now.ts';
import { Presence } from './presence.ts';

const at = '2026-01-01T00:00:00Z';
const ready = (status: 'True' | 'Unknown', reason: string): SandboxStatus => ({
  nodeName: 'n',
  conditions: [{ type: 'Ready', status, reason, message: 'm', lastTransitionTime: at }],
});
const running = ready('True', 'Running');
const lost = ready('Unknown', 'NodeLost');
const sandbox = (status: SandboxStatus, uid = 'u'): Sandbox =>
  ({ metadata: { name: 's', namespace: 'd', uid }, status }) as Sandbox;

function setUp() {
  const clock = new FakeClock();
  const done: string[] = [];
  const state = { held: true };
  const presence = new Presence({
    clock,
    held: () => state.held,
    renew: async () => void done.push('renew'),
    publish: async () => void done.push('publish'),
  });
  return { clock, done, state, presence };
}

describe('what an agent may write', () => {
  it('[K3] is anything while it holds its name and nobody doubts it, at no cost', async () => {
    const { done, presence } = setUp();
    await presence.mayWrite(sandbox(running), lost);
    expect(done).toEqual([]);
  });

  it('[K3] is nothing once it has lost its name: the word of the controller stands', async () => {
    const { done, state, presence } = setUp();
    state.held = false;
    await expect(presence.mayWrite(sandbox(running), running)).rejects.toThrow(NotNow);
    await expect(presence.mayWrite(sandbox(lost), running)).rejects.toThrow(NotNow);
    expect(done).toEqual([]);
  });

  it('[K5] is an answer to NodeLost only after lease and SandboxNode are new', async () => {
    const { done, presence } = setUp();
    await presence.mayWrite(sandbox(lost), running);
    expect(done).toEqual(['renew', 'publish']);
  });

  it('[K5] is one answer in ten seconds, however often the controller says NodeLost', async () => {
    const { clock, done, presence } = setUp();
    await presence.mayWrite(sandbox(lost), running);
    let written = 0;
    for (let second = 1; second < 10; second += 1) {
      await clock.advance(1000);
      await presence.mayWrite(sandbox(lost), running).then(
        () => (written += 1),
        () => undefined,
      );
    }
    expect(written).toBe(0);
    await clock.advance(1000);
    await presence.mayWrite(sandbox(lost), running);
    expect(done).toHaveLength(4);
  });

  it('[K5] takes one proof for many sandboxes', async () => {
    const { done, presence } = setUp();
    await Promise.all(['a', 'b', 'c'].map((uid) => presence.mayWrite(sandbox(lost, uid), running)));
    expect(done).toEqual(['renew', 'publish']);
  });

  it('[K3] is nothing when the name was lost while it proved that it lives', async () => {
    const { clock, state } = setUp();
    const failing = new Presence({
      clock,
      held: () => state.held,
      renew: async () => {
        state.held = false;
      },
      publish: async () => undefined,
    });
    await expect(failing.mayWrite(sandbox(lost), running)).rejects.toThrow(NotNow);
  });
});
