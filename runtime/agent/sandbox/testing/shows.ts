import { decide } from '../decide.ts';
import type { Decision, Observation } from '../types.ts';
import { seen } from './observations.ts';

/**
 * A decision as its readers get it: the reason in the log, the conditions and other fields of the status, in the order
 * in which `kubectl describe` lists them, then what is done and when it is looked at again.
 */
export function shows(more: Partial<Observation>): string {
  return inWords(decide(seen(more)));
}

function inWords({ because, status, writeFirst, act, againMs }: Decision): string {
  const lines = [`because ${because}`];
  for (const { type, status: is, reason, message } of status?.conditions ?? [])
    lines.push(`${type} ${is} ${reason}: ${message ?? ''}`);
  for (const [field, value] of Object.entries(status?.set ?? {})) lines.push(`${field} = ${brief(value)}`);
  if (status?.unset !== undefined && status.unset.length > 0)
    lines.push(`without ${status.unset.join(', ')}`);
  if (act !== undefined) lines.push(`${writeFirst === true ? 'write, then ' : ''}${inOrder(act)}`);
  if (againMs !== undefined) lines.push(`again in ${againMs} ms`);
  return lines.join('\n');
}

function inOrder(act: NonNullable<Decision['act']>): string {
  const { do: what, ...how } = act;
  return [`do ${what}`, ...Object.values(how)].join(', ');
}

function brief(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
