import type { ControllerUse } from '../../scale/controller-process.ts';
import { writesOf } from '../../scale/counting-client.ts';
import type { BenchLine } from '../result.ts';

export const ms = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} ms`;
export const perSecond = (value: number): string => `${value.toFixed(0)}/s`;
const MB = 1e6;

export function goal(
  what: string,
  value: number,
  text: string,
  wanted: { atMost?: number; atLeast?: number },
  unit = '',
): BenchLine {
  const { atMost, atLeast } = wanted;
  return {
    what,
    measured: text,
    goal: atMost === undefined ? `at least ${atLeast}${unit}` : `at most ${atMost}${unit}`,
    met: (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast),
  };
}

/** What the controller used between two looks, for so many Sandboxes. */
export function controllerLines(
  before: ControllerUse,
  after: ControllerUse,
  options: { sandboxes: number; mostMB: number },
): BenchLine[] {
  const { sandboxes, mostMB } = options;
  const writes = writesOf(after.counts, 'events') - writesOf(before.counts, 'events');
  const events = writesOf(after.counts) - writesOf(before.counts) - writes;
  const lists = after.counts.lists - before.counts.lists;
  const most = after.mostRssBytes / MB;
  return [
    {
      what: 'writes of the controller per Sandbox, without Events',
      measured: `${(writes / sandboxes).toFixed(2)} (and ${(events / sandboxes).toFixed(2)} Events)`,
    },
    goal('lists of the controller', lists, String(lists), { atMost: 0 }),
    {
      what: 'CPU of the controller per Sandbox',
      measured: ms((after.cpuMs - before.cpuMs) / sandboxes),
    },
    goal('memory of the controller at its most', most, `${most.toFixed(0)} MB`, { atMost: mostMB }, ' MB'),
    {
      what: 'memory of the controller afterwards',
      measured: `${(after.rssBytes / MB).toFixed(0)} MB, heap ${(after.heapUsedBytes / MB).toFixed(0)} MB`,
    },
  ];
}
