import points from '../../runtime/agent/fault-points.generated.json' with { type: 'json' };
import { readPassings, stepOf } from '../fault-point-names.ts';
import type { DockerConfig } from '../lab/daemon.ts';
import { type Scenario, scenarios, STEPS_ON_V2_ALONE } from './scenarios.ts';

export interface Kill {
  /** `before:NAME` or `after:NAME`, and `#N` where it is not the first passing. */
  point: string;
  step: string;
  scenario: Scenario;
}

/** Of one step; beyond that nothing new comes. */
const MOST_PASSINGS = 6;

export const scenariosOn = (config: DockerConfig): Scenario[] =>
  scenarios.filter(({ on }) => on === undefined || on === config);

/**
 * Every point of the list once, all on docker-v1 but what docker-v2 alone passes. A step that no scenario names is tried
 * in the first one, and fails there if it is not passed: none is left out.
 */
export function everyPointOnce(config: DockerConfig): Kill[] {
  const all = everyPointOn(config);
  if (config === 'docker-v2') return all.filter(({ step }) => STEPS_ON_V2_ALONE.includes(step));
  const again = scenariosOn(config).flatMap((scenario) =>
    (scenario.again ?? []).map((point) => killAt(point, scenario)),
  );
  return [...all, ...again];
}

/** Every point that this daemon passes, once. */
export function everyPointOn(config: DockerConfig): Kill[] {
  const own = scenariosOn(config);
  return points
    .map((point) => killAt(point, scenarioOf(own, point)))
    .filter(({ step }) => config === 'docker-v2' || !STEPS_ON_V2_ALONE.includes(step));
}

/** Every point at every passing of the scenario that passes it most often, as the last undisturbed runs counted them. */
export function everyPassing(config: DockerConfig): Kill[] {
  const counted = readPassings(config);
  const own = scenariosOn(config);
  return everyPointOn(config).flatMap((first) => {
    const times = (scenario: Scenario): number => counted[scenario.name]?.[first.step] ?? 0;
    const most = own.reduce((best, one) => (times(one) > times(best) ? one : best), first.scenario);
    const later = Math.max(0, Math.min(times(most), MOST_PASSINGS) - 1);
    return [
      first,
      ...Array.from({ length: later }, (_, index) => killAt(`${first.point}#${index + 2}`, most)),
    ];
  });
}

function scenarioOf(own: readonly Scenario[], point: string): Scenario {
  const found = own.find(({ steps }) => steps.includes(stepOf(point))) ?? own[0];
  if (found === undefined) throw new Error('there are no scenarios');
  return found;
}

function killAt(point: string, scenario: Scenario): Kill {
  return { point, step: stepOf(point), scenario };
}
