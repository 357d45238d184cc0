import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from './testing/bench.ts';

describe('a process in a sandbox', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench.close());

  it('runs after the gate, its output and exit code arrive, and the sandbox ends with its code at the goodbye', async () => {
    const probe = await bench.probe();
    const { session, recorder, exit, arrival } = await bench.launch(probe, 'one');
    expect(arrival).toMatchObject({ sandboxID: 'one', peer: { uid: 0 } });
    expect(arrival.peer.nsPids.at(-1)).toBe(1);
    expect(session.hello).toMatchObject({ protocol: 1, connection: 1, processes: [], outsideSignals: [] });
    const result = await session.start({
      id: 2,
      argv: ['sh', '-c', 'echo out; echo err >&2; exit 7'],
      env: ['PATH=/usr/bin:/bin'],
      workingDir: '/',
    });
    expect(result).toMatchObject({ ok: true });
    expect(await recorder.over(2)).toMatchObject({ exitCode: 7, signal: undefined, endedBy: 'itself' });
    expect(recorder.text(2)).toBe('out\n');
    expect(recorder.text(2, 'stderr')).toBe('err\n');
    session.release();
    expect(await exit).toBe(7);
  });
});
