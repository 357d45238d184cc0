import type { Sandbox } from '../../../crds/sandbox.ts';
import { type BenchResult, quantile } from '../result.ts';
import { bareRate } from './bare.ts';
import { controllerLines, goal, ms, perSecond } from './figures.ts';
import { openStage } from './stage.ts';

const BARE_WORKERS = 32;
const BARE_SECONDS = 15;
const BEYOND_SECONDS = 15;
/** Of what a bare client gets through: where the asked rate is beyond it, this much is tried as well. */
const SHARE = 0.5;

/** So many creates a second, held, whatever the server makes of them. */
export async function benchRate(options: {
  nodes: number;
  perSecond: number;
  seconds: number;
}): Promise<BenchResult> {
  const stage = await openStage({ nodes: options.nodes, maxSandboxes: 100_000 });
  try {
    let controller = await stage.startController();
    const like = stage.arrivals.lister.get('default/first-1') as Sandbox;
    await controller.stop();
    const bare = await bareRate(stage, like, { workers: BARE_WORKERS, seconds: BARE_SECONDS });
    controller = await stage.startController();
    const before = await controller.use();
    // Where a client that thinks nothing cannot do it, a whole minute of it would show nothing more.
    const beyond = bare.perSecond < options.perSecond;
    const seconds = beyond ? Math.min(options.seconds, BEYOND_SECONDS) : options.seconds;
    const held = await hold(stage, 'rate', { ...options, seconds });
    const after = await controller.use();
    const p99 = quantile(held.waitMs, 0.99);
    const lines = [
      {
        what: `a bare client: create + patch + status, in a second, ${BARE_WORKERS} at once, no controller`,
        measured: perSecond(bare.perSecond),
      },
      goal(
        `creates that the server answered, of ${options.perSecond}/s asked for ${seconds} s`,
        held.createdPerSecond,
        perSecond(held.createdPerSecond),
        { atLeast: options.perSecond * 0.98 },
        '/s',
      ),
      { what: 'placed in a second', measured: perSecond(held.placedPerSecond) },
      { what: 'create to Scheduled, p50', measured: ms(quantile(held.waitMs, 0.5)) },
      goal('create to Scheduled, p99', p99, ms(p99), { atMost: 500 }, ' ms'),
      ...controllerLines(before, after, { sandboxes: held.waitMs.length, mostMB: 300 }),
    ];
    const samples: Record<string, number[]> = { waitMs: held.waitMs, bareMs: bare.samplesMs };
    if (beyond) {
      const reduced = Math.round(bare.perSecond * SHARE);
      const second = await hold(stage, 'less', { perSecond: reduced, seconds: options.seconds / 2 });
      const late = quantile(second.waitMs, 0.99);
      lines.push(
        {
          what: 'the server itself is the limit: a bare client alone does not reach the rate asked',
          measured: `${perSecond(bare.perSecond)} of ${options.perSecond}/s`,
        },
        {
          what: `creates that the server answered, of ${reduced}/s asked for ${options.seconds / 2} s`,
          measured: perSecond(second.createdPerSecond),
        },
        { what: `  create to Scheduled, p50, at ${reduced}/s`, measured: ms(quantile(second.waitMs, 0.5)) },
        goal(`  create to Scheduled, p99, at ${reduced}/s`, late, ms(late), { atMost: 500 }, ' ms'),
      );
      samples['reducedWaitMs'] = second.waitMs;
    }
    await controller.stop();
    return { title: `${options.perSecond} creates a second, held, ${options.nodes} nodes`, lines, samples };
  } finally {
    await stage.close();
  }
}

interface Held {
  createdPerSecond: number;
  placedPerSecond: number;
  waitMs: number[];
}

/** Creates by the clock, not by what comes back: a server that falls behind gets no rest. */
async function hold(
  stage: Awaited<ReturnType<typeof openStage>>,
  prefix: string,
  options: { perSecond: number; seconds: number },
): Promise<Held> {
  const count = Math.round(options.perSecond * options.seconds);
  const createdMs: number[] = [];
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  let answered = 0;
  let lastAnswerMs = 0;
  const calls: Promise<void>[] = [];
  const startedMs = performance.now();
  for (const [index, name] of names.entries()) {
    const dueMs = startedMs + (index / options.perSecond) * 1000;
    const early = dueMs - performance.now();
    if (early > 1) await new Promise((resolve) => setTimeout(resolve, early));
    createdMs[index] = performance.now();
    calls.push(
      stage.create(name).then(() => {
        answered += 1;
        lastAnswerMs = performance.now();
      }),
    );
  }
  await Promise.all(calls);
  await stage.arrivals.untilAll(names, 120_000);
  const placedMs = performance.now();
  const waitMs = createdMs.map((ms, index) => stage.arrivals.at(names[index] ?? '') - ms);
  return {
    createdPerSecond: answered / ((lastAnswerMs - startedMs) / 1000),
    placedPerSecond: count / ((placedMs - startedMs) / 1000),
    waitMs,
  };
}
