import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../kube/testing/fake-clock.ts';
import type { InitArrival, InitEvents, InitHello, InitSession } from '../../link/types.ts';
import { createOutputs } from '../output/outputs.ts';
import { newRun } from '../run.ts';
import { exit } from '../sandbox/testing/observations.ts';
import type { Services } from '../services.ts';
import { MAIN_ID, openLiveSession } from './live-session.ts';
import { outputTrouble } from './output-trouble.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'holdfast-session-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

/** An agent that finds `main` running, as after its own restart. */
async function setUp() {
  const said: string[] = [];
  const failures: unknown[] = [];
  const services = {
    log: pino({ level: 'silent' }),
    events: {
      record: (_subject: unknown, type: string, reason: string, message: string) =>
        said.push(`${type} ${reason}: ${message}`),
    },
  } as unknown as Services;
  const run = newRun('u1', { namespace: 'default', name: 's' });
  const outputs = createOutputs(dataDir, new FakeClock());
  const credits: { acked: bigint; windowBytes: number }[] = [];
  let waiting: (() => void) | undefined;
  const init = {
    hello: {
      gate: false,
      processes: [{ id: MAIN_ID, pid: 2, startTicks: 1n, state: 'running', stdinReceived: 0n }],
    } as unknown as InitHello,
    closed: new Promise<Error>(() => undefined),
    credit: (_id: number, stream: string, acked: bigint, windowBytes: number) => {
      if (stream !== 'stdout') return;
      credits.push({ acked, windowBytes });
      waiting?.();
    },
  } as unknown as InitSession;
  let events: InitEvents | undefined;
  const session = await openLiveSession({
    arrival: {} as InitArrival,
    start: 1,
    life: 1,
    writer: (launch) => outputs.writer('u1', launch, outputTrouble(services, run, launch)),
    changed: () => undefined,
    failed: (error) => failures.push(error),
    nowMs: () => 0,
    open: async (given) => {
      events = given;
      return init;
    },
  });
  if (events === undefined) throw new Error('the session was not opened');
  const acked = async (bytes: bigint): Promise<void> => {
    while (credits.at(-1)?.acked !== bytes)
      await new Promise<void>((resolve) => {
        waiting = resolve;
      });
  };
  return { session, events, credits, acked, said, failures, outputs };
}

const chunk = (offset: bigint, text: string) =>
  ({ id: MAIN_ID, stream: 'stdout', offset, data: Buffer.from(text) }) as const;

describe('a session with an init', () => {
  it('[O10] is held, and sees the exit, where the output folder cannot be made: output is dropped, and that is said', async () => {
    await mkdir(join(dataDir, 'output'));
    await writeFile(join(dataDir, 'output', 'u1'), 'a file in its place');
    const { session, events, acked, said, failures } = await setUp();
    expect(session.process('main')).toEqual({ state: 'running', exit: undefined });
    events.onOutput(chunk(0n, 'abc'));
    events.onOutput(chunk(3n, 'def'));
    await acked(6n);
    events.onStreamEnd(MAIN_ID, 'stdout', 6n);
    events.onStreamEnd(MAIN_ID, 'stderr', 0n);
    events.onExit(MAIN_ID, exit(0));
    expect(session.process('main')).toEqual({ state: 'exited', exit: exit(0) });
    // At once: longer than any test may take is not waited for.
    await session.drained('main', 2 ** 30);
    expect(failures).toEqual([]);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('Warning Failed: Output of the command cannot be written and is dropped');
    expect(said[0]).toContain(`${join(dataDir, 'output', 'u1', 'main')}: ENOTDIR`);
  });

  it('[O2] with one that ran before lets it send, whatever an earlier agent had dropped', async () => {
    const { events, credits, acked, said, outputs } = await setUp();
    expect(credits).toEqual([{ acked: 0n, windowBytes: Number.MAX_SAFE_INTEGER }]);
    events.onOutput(chunk(10_000_000n, 'abc'));
    await acked(10_000_003n);
    expect(said).toEqual([]);
    await outputs.closeAll();
  });
});
