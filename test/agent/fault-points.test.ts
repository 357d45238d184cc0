import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { appendFile, copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LABELS } from '../../runtime/agent/names.ts';
import { type DockerConfig, selectedConfigs, useDaemon } from '../lab/daemon.ts';
import { startFaultProxy } from '../lab/fault-proxy.ts';
import { until } from '../until.ts';
import { countPassings, type Passings, passingsFile, selected } from '../fault-point-names.ts';
import { everyPassing, everyPointOn, everyPointOnce, type Kill, scenariosOn } from './fault-point-list.ts';
import { startKillableAgent } from './killable-agent.ts';
import type { Scenario } from './scenarios.ts';
import { INIT_BINARY, openWorld, type World } from './world.ts';

/** `count`: undisturbed runs; `once`: each point on each daemon; `every`: each passing that was counted too. */
const RUN = process.env['HOLDFAST_FAULT_RUN'];
const WANTED = process.env['HOLDFAST_FAULTS'] ?? '';
/** A later passing depends on how changes fall together: so often it is waited for. */
const ATTEMPTS = 3;

const LISTS = { every: everyPassing, once: everyPointOn };
const listOf = (config: DockerConfig): Kill[] => (LISTS[RUN as keyof typeof LISTS] ?? everyPointOnce)(config);
const killsOn = (config: DockerConfig): Kill[] => selected(listOf(config), WANTED);

const configs = selectedConfigs(['docker-v1', 'docker-v2']).filter((config) => {
  if (RUN === 'count') return true;
  const kills = killsOn(config).length;
  console.log(`fault points on ${config}: ${listOf(config).length} kills, ${kills} of them in this run`);
  return kills > 0;
});

interface Life {
  deaths: number;
  /** A line for each step that was passed, where that was asked for. */
  trace: string;
}

describe.each(configs)('fault points on %s', (config) => {
  // A guest has one CPU: there one after another.
  const life = config === 'docker-v1' ? it.concurrent : it;
  const daemon = useDaemon(config);
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ socketPath: daemon.current.socketPath, withAgent: false });
  });
  afterAll(() => world.close());

  /** One life of a sandbox from its creation to the last trace of it, on a node and an agent of its own. */
  async function live(
    scenario: Scenario,
    name: string,
    faults: { point?: string; trace?: boolean; ownProgram?: boolean },
  ): Promise<Life> {
    const nodeName = `node-${randomUUID().slice(0, 8)}`;
    const dataDir = join(world.dataDir, nodeName);
    await mkdir(dataDir, { recursive: true });
    const initBinary = faults.ownProgram === true ? join(dataDir, 'init') : INIT_BINARY;
    if (initBinary !== INIT_BINARY) {
      await copyFile(INIT_BINARY, initBinary);
      await appendFile(initBinary, randomUUID());
    }
    world.dataDirs.set(nodeName, dataDir);
    const proxy = scenario.faults && (await startFaultProxy(daemon.current.socketPath));
    proxy?.set(scenario.faults ?? []);
    const socketPath = proxy?.socketPath ?? daemon.current.socketPath;
    const trace = faults.trace === true ? join(dataDir, 'trace') : undefined;
    const agent = startKillableAgent(
      { api: world.api, socketPath, nodeName, dataDir, initBinary },
      { point: faults.point, trace },
    );
    try {
      await world.labelNode(nodeName);
      const sandbox = await scenario.live(world, name, { 'test/node': nodeName });
      await world.remove(sandbox);
      await world.gone(sandbox);
      const labels = { [LABELS.uid]: sandbox.metadata.uid };
      expect(await world.driver.listContainers({ labels })).toEqual([]);
      expect(await world.driver.listVolumes({ labels })).toEqual([]);
      await until('an empty ledger', async () => (await readdir(join(dataDir, 'ledger'))).length === 0);
      const passed = trace === undefined ? '' : readFileSync(trace, 'utf8');
      return { deaths: agent.deaths, trace: passed };
    } finally {
      await agent.stop();
      await proxy?.close();
    }
  }

  if (RUN === 'count') {
    const counted: Passings = {};
    afterAll(() => writeFileSync(passingsFile(config), JSON.stringify(counted, null, 2)));
    life.for(scenariosOn(config))('counts what $name passes', async (scenario) => {
      const { trace } = await live(scenario, `count-${scenario.name.toLowerCase()}`, { trace: true });
      counted[scenario.name] = countPassings(trace);
    });
    return;
  }

  const kills = killsOn(config);
  life.for(kills)('[K10] [O10] comes to the same end after $point', async ({ point, step, scenario }) => {
    const later = point.includes('#');
    for (let attempt = 1; ; attempt += 1) {
      const name = `${point.replaceAll(/[:#]/g, '-')}${attempt === 1 ? '' : `-${attempt}`}`;
      // The image of the probe has to be made once for each program, and is there from then on.
      const { deaths } = await live(scenario, name, { point, ownProgram: step === 'import-probe-image' });
      if (later && deaths === 0 && attempt < ATTEMPTS) continue;
      // It was killed once, at that point, and nowhere else.
      expect(deaths, `times that scenario ${scenario.name} was killed ${point}`).toBe(1);
      return;
    }
  });
});
