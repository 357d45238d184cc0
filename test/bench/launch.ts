import { type BenchResult, median } from './result.ts';
import type { RawSide } from './raw-client.ts';
import type { SandboxClient } from './sandbox-client.ts';

const GOAL = 1.2;
/** As the raw side sets them; eight fit on two cores. */
const RESOURCES = { memory: '64Mi', cpu: '200m', pids: 32 };
const WARM_UP = 3;

/** Raw Docker and Holdfast in turn on the same daemon, the order changing each time, so that neither has the better half. */
export async function benchLaunch(
  raw: RawSide,
  sandboxes: SandboxClient,
  options: { runs: number; atOnce: number },
): Promise<BenchResult> {
  const rawMs: number[] = [];
  const holdfastMs: number[] = [];
  const oneRaw = async () => rawMs.push(await raw.launch(options.atOnce));
  const oneOfOurs = async () => {
    const { tookMs, names } = await sandboxes.launch(options.atOnce, RESOURCES);
    holdfastMs.push(tookMs);
    await sandboxes.remove(names);
  };
  for (let run = -WARM_UP; run < options.runs; run++) {
    if (run === 0) {
      rawMs.length = 0;
      holdfastMs.length = 0;
    }
    for (const side of run % 2 === 0 ? [oneRaw, oneOfOurs] : [oneOfOurs, oneRaw]) await side();
  }
  const ratio = median(holdfastMs) / median(rawMs);
  const ms = (samples: number[]) => `${median(samples).toFixed(0)} ms`;
  return {
    title: options.atOnce === 1 ? 'One launch, image present' : `${options.atOnce} launches at once`,
    lines: [
      { what: 'raw Docker: create + attach + start + first output', measured: ms(rawMs) },
      { what: 'Holdfast: POST to Ready=True seen by a watch', measured: ms(holdfastMs) },
      {
        what: 'Holdfast / raw',
        measured: `${ratio.toFixed(2)}x`,
        goal: `at most ${GOAL}x`,
        met: ratio <= GOAL,
      },
    ],
    samples: { rawMs, holdfastMs },
  };
}
