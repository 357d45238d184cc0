import { describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { Parts } from './parts.ts';

const log = pino({ level: 'silent' });

describe('Parts', () => {
  it('stops in the other order, all of them whatever happens', async () => {
    const stopped: string[] = [];
    const parts = new Parts(log);
    for (const name of ['a', 'b', 'c']) {
      parts.add({
        name,
        stop: async () => {
          stopped.push(name);
          if (name === 'b') throw new Error('mine');
        },
      });
    }
    await parts.stop();
    await parts.stop();
    expect(stopped).toEqual(['c', 'b', 'a']);
  });

  it('waits until told to stop, however its parts end after that', async () => {
    const stop = new AbortController();
    const parts = new Parts(log);
    let end = (): void => {};
    parts.add({ name: 'a', stop: async () => {}, done: new Promise((resolve) => (end = resolve)) });
    const waiting = parts.untilStopped(stop.signal);
    stop.abort();
    end();
    await waiting;
    await parts.untilStopped(stop.signal);
  });

  it('says which part ended by itself, or failed and why', async () => {
    const ended = new Parts(log);
    ended.add({ name: 'agent', stop: async () => {}, done: Promise.resolve() });
    await expect(ended.untilStopped(new AbortController().signal)).rejects.toThrow(
      'the agent ended by itself',
    );
    const failed = new Parts(log);
    failed.add({ name: 'agent', stop: async () => {}, done: Promise.reject(new Error('no disk')) });
    await expect(failed.untilStopped(new AbortController().signal)).rejects.toThrow(
      'the agent failed: no disk',
    );
  });
});
