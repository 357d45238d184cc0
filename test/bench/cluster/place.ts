import { atOnce } from '../../scale/simulated-nodes.ts';
import { type BenchResult, quantile } from '../result.ts';
import { controllerLines, goal, ms, perSecond } from './figures.ts';
import { openStage } from './stage.ts';

const CREATORS = 20;

/** A whole cluster: so many nodes, so many Sandboxes, and the controller that is started again with all of them. */
export async function benchPlace(options: { nodes: number; sandboxes: number }): Promise<BenchResult> {
  const { nodes, sandboxes } = options;
  const stage = await openStage({ nodes });
  try {
    const controller = await stage.startController();
    const before = await controller.use();
    const createdMs = new Map<string, number>();
    const names = Array.from({ length: sandboxes }, (_, index) => `place-${index}`);
    const startedMs = performance.now();
    await atOnce(CREATORS, names, async (name) => {
      createdMs.set(name, performance.now());
      await stage.create(name);
    });
    const allCreatedMs = performance.now() - startedMs;
    const all = await stage.arrivals.untilAll(names, 180_000);
    const tookMs = performance.now() - startedMs;
    const after = await controller.use();
    const waits = names.map((name) => stage.arrivals.at(name) - (createdMs.get(name) ?? Number.NaN));
    const perNode = new Map<string, number>();
    for (const { status } of stage.arrivals.lister.list())
      perNode.set(status?.nodeName ?? '', (perNode.get(status?.nodeName ?? '') ?? 0) + 1);
    const counts = [...perNode.values()];
    return {
      title: `${sandboxes} Sandboxes on ${nodes} nodes, ${CREATORS} creators`,
      lines: [
        {
          what: 'from the first create to the last Scheduled',
          measured: all
            ? `${(tookMs / 1000).toFixed(1)} s, ${perSecond(sandboxes / (tookMs / 1000))}`
            : `NOT ALL: ${stage.arrivals.count - 1} in ${(tookMs / 1000).toFixed(0)} s`,
        },
        { what: 'until all were created', measured: `${(allCreatedMs / 1000).toFixed(1)} s` },
        { what: 'create to Scheduled, p50', measured: ms(quantile(waits, 0.5)) },
        { what: 'create to Scheduled, p99', measured: ms(quantile(waits, 0.99)) },
        {
          what: 'Sandboxes on the emptiest and the fullest node',
          measured: `${Math.min(...counts)} and ${Math.max(...counts)}`,
        },
        goal('lease renewals that failed', stage.nodes.failures, String(stage.nodes.failures), { atMost: 0 }),
        ...controllerLines(before, after, { sandboxes, mostMB: 300 }),
      ],
      samples: { waitMs: waits },
    };
  } finally {
    await stage.close();
  }
}
