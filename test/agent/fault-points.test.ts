import { appendFile, copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import points from '../../runtime/agent/fault-points.generated.json' with { type: 'json' };
import { LABELS } from '../../runtime/agent/names.ts';
import { useDaemon } from '../lab/daemon.ts';
import { startKillableAgent } from './killable-agent.ts';
import { scenarios } from './scenarios.ts';
import { until } from '../until.ts';
import { INIT_BINARY, openWorld, type World } from './world.ts';

/** Passed on cgroup v2 alone: its parent cgroup has to be removed by us. */
const V2_ONLY = new Set(['remove-cgroup']);

/** Passed only where the kernel has another value than the runtime took: no daemon of the lab does that. */
const NO_DAEMON = new Set(['restore-limits']);

const CONFIG = process.env['HOLDFAST_LAB'] === 'docker-v2' ? 'docker-v2' : 'docker-v1';
const wanted = process.env['HOLDFAST_FAULTS'];
const stepOf = (point: string): string => point.slice(point.indexOf(':') + 1).replace(/#\d+$/, '');
const again = scenarios.flatMap((scenario) => scenario.again ?? []);
const tried = [...points, ...again].filter((point) => {
  const step = stepOf(point);
  return (
    (wanted === undefined || point.includes(wanted)) &&
    !NO_DAEMON.has(step) &&
    (CONFIG === 'docker-v2' || !V2_ONLY.has(step))
  );
});

describe(`killed at each of ${tried.length} fault points, the agent on ${CONFIG}`, {
  concurrent: true,
}, () => {
  const daemon = useDaemon(CONFIG);
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ socketPath: daemon.current.socketPath, withAgent: false });
  });
  afterAll(() => world.close());

  it.for(tried)('[K10] [O10] comes to the same end after %s', async (point) => {
    const step = stepOf(point);
    const scenario =
      scenarios.find((one) => one.again?.includes(point)) ??
      scenarios.find((one) => one.steps.includes(step)) ??
      scenarios[0];
    if (scenario === undefined) throw new Error(`no scenario passes ${step}`);
    const nodeName = `node-${randomUUID().slice(0, 8)}`;
    const dataDir = join(world.dataDir, nodeName);
    await mkdir(dataDir, { recursive: true });
    // A program of its own where the image has to be made: it is made once for each.
    const initBinary = step === 'import-probe-image' ? join(dataDir, 'init') : INIT_BINARY;
    if (initBinary !== INIT_BINARY) {
      await copyFile(INIT_BINARY, initBinary);
      await appendFile(initBinary, randomUUID());
    }
    world.dataDirs.set(nodeName, dataDir);
    const agent = startKillableAgent(
      { api: world.api, socketPath: daemon.current.socketPath, nodeName, dataDir, initBinary },
      point,
    );
    try {
      await world.labelNode(nodeName);
      const name = point.replaceAll(/[:#]/g, '-');
      const sandbox = await scenario.live(world, name, { 'test/node': nodeName });
      await world.remove(sandbox);
      await world.gone(sandbox);
      // It was killed once, at that point, and nowhere else.
      expect(agent.deaths).toBe(1);
      const labels = { [LABELS.uid]: sandbox.metadata.uid };
      expect(await world.driver.listContainers({ labels })).toEqual([]);
      expect(await world.driver.listVolumes({ labels })).toEqual([]);
      await until('an empty ledger', async () => (await readdir(join(dataDir, 'ledger'))).length === 0);
    } finally {
      await agent.stop();
    }
  });
});
