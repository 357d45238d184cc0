import { z } from 'zod';
import { terminationSchema } from '../../../crds/limits-status.ts';
import type { LedgerRecord, RefusalReason, StopReason } from './record.ts';

/**
 * What a record on disk has to look like: a wrong one would end or begin what nobody asked for. Fields that are not
 * known here are an agent's that is newer.
 */
const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'no time');
const text = z.string();
const figure = z.number();
const flag = z.boolean();

/** By the compiler, each name of the type is here, and no other. */
const oneOf = <T extends string>(names: Record<T, true>) => z.enum(Object.keys(names) as [T, ...T[]]);

const { launch, cause, verdict } = terminationSchema.shape;
const termination = z.looseObject({
  launch,
  cause,
  verdict,
  exitCode: figure.optional(),
  signal: text.optional(),
  message: text,
  evidence: z.array(text),
  contradictions: z.array(text).optional(),
  memoryLimitBytes: figure.optional(),
  peakMemoryBytes: figure.optional(),
  oomKills: figure.optional(),
  containerID: text.optional(),
  startedAt: time.optional(),
  finishedAt: time,
  observedGeneration: figure.optional(),
});

const oom = z.looseObject({ verdict, message: text });

const counters = z.looseObject({
  oomKills: figure.optional(),
  limitHits: figure.optional(),
  peakBytes: figure.optional(),
  parentOOMKills: figure.optional(),
  parentLimitHits: figure.optional(),
  readings: z.array(z.looseObject({ path: text, content: text })),
});

const exit = z.looseObject({
  exitCode: figure.optional(),
  signal: figure.optional(),
  coreDumped: flag,
  startedAtBootMs: figure,
  endedAtBootMs: figure,
  maxRssBytes: figure,
  userMicros: figure,
  systemMicros: figure,
  endedBy: z.enum(['itself', 'timeout', 'agent', 'outside', 'fence']),
  outside: z.looseObject({ signal: figure, atBootMs: figure }).optional(),
});

const launched = z.looseObject({
  intendedAt: time,
  start: figure,
  flagBefore: flag.optional(),
  baseline: counters.optional(),
  startedAt: time.optional(),
  deadlineSeconds: figure.optional(),
  exit: exit.optional(),
  endedAt: time.optional(),
  closing: counters.optional(),
  termination: termination.optional(),
  oom: oom.optional(),
});

const stopReason = oneOf<StopReason>({
  Suspended: true,
  Deleted: true,
  Deadline: true,
  Replaced: true,
  Stopped: true,
  Drained: true,
  SetupTimeout: true,
  LimitsUnproven: true,
});

const refusalReason = oneOf<RefusalReason>({
  ReadBackMismatch: true,
  ReadBackFailed: true,
  StartFailed: true,
  CommandNotFound: true,
  CommandNotExecutable: true,
  NetworkUnsupported: true,
  NotSupported: true,
  InvalidSpec: true,
});

const fields: Record<keyof LedgerRecord, z.ZodType> = {
  version: z.literal(1),
  uid: z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'no UID'),
  namespace: text,
  name: text,
  runtime: z.enum(['docker', 'podman']),
  specHash: text,
  limitsHash: text,
  generation: figure,
  retained: flag,
  hasSetup: flag,
  bootID: text.optional(),
  containerID: text.optional(),
  imageID: text.optional(),
  limits: z.looseObject({
    memoryBytes: figure.optional(),
    memorySwapBytes: figure.optional(),
    cpuQuotaMicros: figure.optional(),
    cpuPeriodMicros: figure.optional(),
    pids: figure.optional(),
    pidsDefaulted: flag,
    swapHeld: flag,
  }),
  cgroupParent: text.optional(),
  cgroup: text.optional(),
  starts: figure,
  quickRestarts: figure.optional(),
  setup: launched.optional(),
  main: launched.optional(),
  fence: z.looseObject({ seconds: figure, fellAt: time.optional() }).optional(),
  stop: z.looseObject({ reason: stopReason, at: time, signals: z.array(text) }).optional(),
  outcome: z
    .looseObject({
      termination,
      oom: oom.optional(),
      ended: z.enum(['Succeeded', 'Failed', 'Stalled', 'Stopped', 'Restart', 'Anew']),
    })
    .optional(),
  refusedLimits: z
    .looseObject({
      hash: text,
      reason: z.enum(['LimitUnenforceable', 'ReadBackMismatch']),
      message: text,
      restored: flag.optional(),
    })
    .optional(),
  refusal: z.looseObject({ reason: refusalReason, message: text }).optional(),
};
const shape = z.looseObject(fields);

/** The record, or in words why it is none. */
export function recordOrProblem(value: unknown): LedgerRecord | string {
  const result = shape.safeParse(value);
  // What was read, with all that is not known here.
  if (result.success) return value as LedgerRecord;
  return result.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.length === 0 ? 'the record' : path.join('.')}: ${message}`)
    .join('; ');
}
