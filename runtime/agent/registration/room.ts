import { hasErrors, type Limits, limitsOf } from '../../../crds/limits.ts';
import { parseCPU, parseMemory } from '../../../crds/quantity.ts';
import type { SandboxNodeSpec } from '../../../crds/sandbox-node.ts';
import type { Sandbox } from '../../../crds/sandbox.ts';
import type { RequestedLimits } from '../ledger/record.ts';

/** CPU in thousandths, memory in bytes. */
export interface Amount {
  cpuMillis: number;
  memoryBytes: number;
}

export interface RoomQuestion {
  want: Limits;
  /** What the sandbox has now: less than that is always granted, however full the node is. */
  has: Amount;
  /** What all other sandboxes of the node have, or will have. */
  others: Amount;
  /** Of the runtime; undefined: it does not say, and then nothing can be said against a size. */
  total: { cpus?: number | undefined; memoryBytes?: number | undefined };
  reserved: SandboxNodeSpec['reserved'];
}

/** Why limits do not fit into the node (K4), with figures; undefined: they do. */
export function lackOfRoom({ want, has, others, total, reserved }: RoomQuestion): string | undefined {
  const lines: string[] = [];
  const held = {
    cpuMillis: reserved?.cpu === undefined ? 0 : valueOf(parseCPU(reserved.cpu)),
    memoryBytes: reserved?.memory === undefined ? 0 : valueOf(parseMemory(reserved.memory)),
  };
  const all = {
    cpuMillis: total.cpus === undefined ? undefined : Math.floor(total.cpus * 1000),
    memoryBytes: total.memoryBytes,
  };
  for (const [kind, word, show] of [
    ['memoryBytes', 'memory', bytes],
    ['cpuMillis', 'cpu', cores],
  ] as const) {
    const asked = want[kind];
    const whole = all[kind];
    if (asked === undefined || whole === undefined || asked <= has[kind]) continue;
    const left = Math.max(0, whole - held[kind] - others[kind]);
    if (asked <= left) continue;
    lines.push(
      `${word}: ${show(asked)} asked for, ${show(left)} left of ${show(whole)} (other sandboxes ${show(others[kind])}, reserved ${show(held[kind])})`,
    );
  }
  return lines.length === 0 ? undefined : lines.join('; ');
}

/** What one sandbox has or will have: of its spec and what is in force the larger. One that has ended needs nothing. */
export function amountOf(sandbox: Sandbox, inForce: RequestedLimits | undefined, waits: boolean): Amount {
  if (isOver(sandbox)) return { cpuMillis: 0, memoryBytes: 0 };
  const limits = limitsOf(sandbox.spec);
  const now = amountInForce(inForce);
  // It asks for more than there is: what it has is what counts.
  if (hasErrors(limits) || waits) return now;
  return {
    cpuMillis: Math.max(limits.cpuMillis ?? 0, now.cpuMillis),
    memoryBytes: Math.max(limits.memoryBytes ?? 0, now.memoryBytes),
  };
}

export function amountInForce(limits: RequestedLimits | undefined): Amount {
  const { cpuQuotaMicros = 0, cpuPeriodMicros = 1, memoryBytes = 0 } = limits ?? {};
  return { cpuMillis: Math.round((cpuQuotaMicros / cpuPeriodMicros) * 1000), memoryBytes };
}

export function isOver(sandbox: Sandbox): boolean {
  return (
    sandbox.status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True') ?? false
  );
}

/** A reserve that is no quantity the schema refuses; one that got past it reserves nothing. */
function valueOf(parsed: { ok: true; value: number } | { ok: false }): number {
  return parsed.ok ? parsed.value : 0;
}

const cores = (millis: number): string => String(millis / 1000);

const UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti'] as const;

/** Downwards: what is said to be left must be there. */
function bytes(amount: number): string {
  let value = amount;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${Math.floor(value * 100) / 100}${UNITS[unit]}`;
}
