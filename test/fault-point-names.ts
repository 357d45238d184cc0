import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** How often undisturbed runs pass each step, by scenario. */
export type Passings = Record<string, Record<string, number>>;

export const passingsFile = (what: string): string =>
  join(import.meta.dirname, `../.cache/fault-passings-${what}.json`);

export function readPassings(what: string): Passings {
  const file = passingsFile(what);
  if (!existsSync(file)) throw new Error(`${what}: the passings have not been counted (make fault-points)`);
  return JSON.parse(readFileSync(file, 'utf8')) as Passings;
}

/** Of what a trace has, a line for each passing. */
export function countPassings(trace: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const step of trace.split('\n')) if (step !== '') counts[step] = (counts[step] ?? 0) + 1;
  return counts;
}

export function stepOf(point: string): string {
  return point.slice(point.indexOf(':') + 1).replace(/#\d+$/, '');
}

/** A part of all kills: `3/8` is the third of eight, anything else a part of the points' names. */
export function selected<T extends { point: string }>(kills: readonly T[], wanted: string): T[] {
  const part = /^(\d+)\/(\d+)$/.exec(wanted);
  if (part === null) return kills.filter(({ point }) => point.includes(wanted));
  return kills.filter((_, index) => index % Number(part[2]) === Number(part[1]) - 1);
}
