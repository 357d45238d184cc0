import type { Sandbox } from '../../../crds/sandbox.ts';
import { atOnce } from '../../scale/simulated-nodes.ts';
import { type BenchResult, quantile } from '../result.ts';
import { bareRate } from './bare.ts';
import { controllerLines, goal, ms, perSecond } from './figures.ts';
import { openStage } from './stage.ts';

/** The rate of the best-known rival's controller with kube-scheduler, on two cores and the same server. */
const RIVAL_PER_SECOND = 53;

/** So many Sandboxes by so many users, each creating one after the other without waiting for what becomes of them. */
export async function benchBurst(options: {
  nodes: number;
  sandboxes: number;
  creators: number;
}): Promise<BenchResult> {
  const { sandboxes, creators } = options;
  const stage = await openStage({ nodes: options.nodes, maxSandboxes: 1000 });
  try {
    const controller = await stage.startController();
    const before = await controller.use();
    const createdMs = new Map<string, number>();
    const names = Array.from({ length: sandboxes }, (_, index) => `burst-${index}`);
    const startedMs = performance.now();
    await atOnce(creators, names, async (name) => {
      createdMs.set(name, performance.now());
      await stage.create(name);
    });
    const allCreatedMs = performance.now() - startedMs;
    const all = await stage.arrivals.untilAll(names, 120_000);
    const tookMs = performance.now() - startedMs;
    const after = await controller.use();
    await controller.stop();
    const like = stage.arrivals.lister.get('default/first-1') as Sandbox;
    const bare = await bareRate(stage, like, { workers: creators, seconds: 10 });
    const waits = names.map((name) => stage.arrivals.at(name) - (createdMs.get(name) ?? Number.NaN));
    const rate = all ? sandboxes / (tookMs / 1000) : 0;
    return {
      title: `${sandboxes} Sandboxes by ${creators} creators at once, ${options.nodes} nodes`,
      lines: [
        goal(
          'placed in a second, from the first create to the last Scheduled',
          rate,
          perSecond(rate),
          { atLeast: 3 * RIVAL_PER_SECOND },
          '/s',
        ),
        { what: 'create to Scheduled, p50', measured: ms(quantile(waits, 0.5)) },
        { what: 'create to Scheduled, p99', measured: ms(quantile(waits, 0.99)) },
        { what: 'created in a second meanwhile', measured: perSecond(sandboxes / (allCreatedMs / 1000)) },
        ...controllerLines(before, after, { sandboxes, mostMB: 150 }),
        {
          what: 'a bare client: create + patch + status, in a second, no controller',
          measured: perSecond(bare.perSecond),
        },
        {
          what: 'placed, as a part of what the bare client gets',
          measured: `${(rate / bare.perSecond).toFixed(2)}x`,
        },
      ],
      samples: { waitMs: waits, bareMs: bare.samplesMs },
    };
  } finally {
    await stage.close();
  }
}
