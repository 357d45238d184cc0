import type { FieldError } from './field-error.ts';
import { LIMIT_FIELDS, parseLimit, shown, type LimitField } from './quantity.ts';
import type { SandboxSpec } from './sandbox.ts';

/** What a spec asks for, in the smallest units. Absent: no limit of this kind. */
export interface Limits {
  /** Thousandths of a CPU. */
  cpuMillis?: number;
  memoryBytes?: number;
  pids?: number;
}

export type LimitsResult = Limits | { errors: FieldError[] };

/** Absent, the default of a sandbox where the runtime can limit processes (L8). */
export const DEFAULT_PIDS = 2048;

const KEYS = { cpu: 'cpuMillis', memory: 'memoryBytes', pids: 'pids' } as const satisfies Record<
  LimitField,
  keyof Limits
>;

/** The limits of a spec, or every reason why they are none (L1, L3). `resources: {}` is no limit (L2). */
export function limitsOf(
  spec: Pick<SandboxSpec, 'resources'>,
  field: string = 'spec.resources',
): LimitsResult {
  const limits: Limits = {};
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(spec.resources ?? {})) {
    if (!isLimitField(key)) {
      errors.push(unknownKey(field, key, value));
      continue;
    }
    const parsed = parseLimit[key](value);
    if (parsed.ok) limits[KEYS[key]] = parsed.value;
    else errors.push(refusedValue(field, key, value, parsed.accepted));
  }
  return errors.length > 0 ? { errors } : limits;
}

export function hasErrors(result: LimitsResult): result is { errors: FieldError[] } {
  return 'errors' in result;
}

/** Whether the spec itself sets any limit; the default on processes is not one. */
export function setsLimits(limits: Limits): boolean {
  return limits.cpuMillis !== undefined || limits.memoryBytes !== undefined || limits.pids !== undefined;
}

function isLimitField(key: string): key is LimitField {
  return (LIMIT_FIELDS as readonly string[]).includes(key);
}

function unknownKey(field: string, key: string, value: unknown): FieldError {
  const accepted = LIMIT_FIELDS.join(', ');
  return {
    field: `${field}.${key}`,
    value,
    accepted,
    message: `${field}: unknown key ${shown(key)}; accepted keys: ${accepted}`,
  };
}

function refusedValue(field: string, key: LimitField, value: unknown, accepted: string): FieldError {
  return {
    field: `${field}.${key}`,
    value,
    accepted,
    message: `${field}.${key}: ${shown(value)} is refused; accepted: ${accepted}`,
  };
}
