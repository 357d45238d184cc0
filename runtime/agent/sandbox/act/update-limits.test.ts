import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../kube/testing/fake-clock.ts';
import { FakeDriver } from '../../../drivers/fake/fake-driver.ts';
import { DriverError } from '../../../driver.ts';
import { plainSteps } from '../../../../kube/fault-points.ts';
import type { LedgerRecord } from '../../ledger/record.ts';
import { newRun } from '../../run.ts';
import type { Observation } from '../types.ts';
import type { ActContext } from './context.ts';
import { updateLimits } from './update-limits.ts';

const MIB = 1024 * 1024;
const OLD = { memoryBytes: 64 * MIB, memorySwapBytes: 64 * MIB, pids: 100 };

async function setUp() {
  const clock = new FakeClock();
  const driver = new FakeDriver({ clock, program: () => () => new Promise(() => undefined) });
  driver.images.set('i', {
    id: 'sha256:i',
    entrypoint: [],
    command: [],
    env: [],
    workingDir: '',
    user: '',
    architecture: '',
  });
  const { id } = await driver.createContainer(
    {
      name: 'c',
      image: 'i',
      labels: {},
      entrypoint: ['x'],
      command: [],
      env: [],
      workingDir: '/',
      user: '',
      limits: OLD,
      mounts: [],
      readOnlyRootFilesystem: false,
      capabilities: [],
      networkDisabled: true,
    },
    {},
  );
  const run = newRun('u', { namespace: 'd', name: 's' });
  const record = {
    limits: { ...OLD, pidsDefaulted: false, swapHeld: true },
    limitsHash: 'old',
    generation: 1,
  } as LedgerRecord;
  run.record = record;
  const told: string[] = [];
  const written: string[] = [];
  const context = {
    services: {
      step: plainSteps,
      signal: new AbortController().signal,
      ledger: { put: async (it: LedgerRecord) => void written.push(JSON.stringify(it)) },
      events: { record: (_about: unknown, _type: string, reason: string) => told.push(reason) },
    },
    run,
    runtime: {
      driver,
      answer: async () => ({ state: 'Ok', info: await driver.info({}) }),
    },
    seen: {
      container: driver.containers.get(id)?.info(),
      sandbox: { metadata: { name: 's', namespace: 'd', uid: 'u', generation: 2 } },
      spec: { limitsHash: 'new', limits: { memoryBytes: 128 * MIB, pids: 50 } },
    } as unknown as Observation,
  } as unknown as ActContext;
  const inForce = () => driver.containers.get(id)?.limits;
  return { driver, context, record, run, told, written, inForce };
}

describe('a change of limits in place', () => {
  it('[K11] is made, and the record knows it', async () => {
    const { context, record, told, inForce } = await setUp();
    await updateLimits(context);
    expect(inForce()).toMatchObject({ memoryBytes: 128 * MIB, pids: 50 });
    expect(record).toMatchObject({ limitsHash: 'new', generation: 2, limits: { memoryBytes: 128 * MIB } });
    expect(told).toEqual(['LimitsChanged']);
  });

  it('[K11] that is not in force afterwards is undone', async () => {
    const { driver, context, record, run, inForce } = await setUp();
    const keep = driver.updateLimits.bind(driver);
    // The first change is made in part.
    driver.updateLimits = (id, limits, options) => {
      driver.updateLimits = keep;
      return keep(id, { ...limits, pids: 7 }, options);
    };
    await updateLimits(context);
    expect(inForce()).toEqual(OLD);
    expect(record).toMatchObject({
      limitsHash: 'old',
      limits: OLD,
      refusedLimits: { hash: 'new', reason: 'ReadBackMismatch', restored: true },
    });
    expect(record.refusedLimits?.message).toContain('The old limits are in force again.');
    expect(run.ownUpdate).toBe(false);
  });

  it('[K11] that the runtime refuses is undone as well: it may have been made in part', async () => {
    const { driver, context, record, inForce } = await setUp();
    driver.faults.add('updateLimits', {
      do: 'throw-after',
      error: new DriverError('Unenforceable', 'busy'),
    });
    await updateLimits(context);
    expect(inForce()).toEqual(OLD);
    expect(record.refusedLimits).toMatchObject({ reason: 'LimitUnenforceable', restored: true });
  });

  it('[K11] that cannot be undone says so', async () => {
    const { driver, context, record } = await setUp();
    driver.faults.add('updateLimits', { do: 'throw', error: new DriverError('Unenforceable', 'busy') }, 2);
    await updateLimits(context);
    expect(record.refusedLimits).toMatchObject({ restored: false });
    expect(record.refusedLimits?.message).toContain('could not be put back: busy');
    expect(record.limits).toMatchObject(OLD);
  });

  it('[K11] that the runtime does not answer is tried again, from the limits that are known', async () => {
    const { driver, context, record, written } = await setUp();
    driver.faults.add('inspectContainer', { do: 'throw', error: new DriverError('Unavailable', 'no') });
    await expect(updateLimits(context)).rejects.toThrow('no');
    expect(record.limits).toMatchObject(OLD);
    expect(record.refusedLimits).toBeUndefined();
    expect(written).toEqual([]);
  });
});
