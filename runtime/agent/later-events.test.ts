import { describe, expect, it } from 'vitest';
import type { EventRecorder } from '../../kube/events.ts';
import { FakeClock } from '../../kube/testing/fake-clock.ts';
import { LaterEvents } from './later-events.ts';

const subject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } };

function setUp(): { clock: FakeClock; told: string[]; later: LaterEvents } {
  const clock = new FakeClock();
  const told: string[] = [];
  const recorder = {
    record: (_subject: unknown, _type: string, _reason: string, message: string) => told.push(message),
  } as unknown as EventRecorder;
  return { clock, told, later: new LaterEvents(recorder, clock) };
}

describe('events', () => {
  it('of what went well wait a moment, and keep their order', async () => {
    const { clock, told, later } = setUp();
    later.record(subject, 'Normal', 'Created', 'one');
    later.record(subject, 'Normal', 'Started', 'two');
    expect(told).toEqual([]);
    await clock.advance(250);
    expect(told).toEqual(['one', 'two']);
    expect(clock.pending).toBe(0);
  });

  it('of trouble do not wait, and come after what was before', () => {
    const { clock, told, later } = setUp();
    later.record(subject, 'Normal', 'Created', 'one');
    later.record(subject, 'Warning', 'OOMKilled', 'two');
    expect(told).toEqual(['one', 'two']);
    expect(clock.pending).toBe(0);
  });

  it('are told at the end', () => {
    const { told, later } = setUp();
    later.record(subject, 'Normal', 'Created', 'one');
    later.flush();
    expect(told).toEqual(['one']);
  });
});
