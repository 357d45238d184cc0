import { Fields } from './fields.ts';
import { LinkError } from './link-error.ts';
import { F } from './protocol.ts';
import type {
  FileReading,
  HeartbeatResult,
  InitHello,
  LimitResult,
  ProbeHello,
  ProcessExit,
  ProcessFacts,
  ProcessRecord,
  StartFailureStage,
  StartResult,
} from './types.ts';

/** What messages mean: from fields to the types of the interface. Each throws `Garbage` where a value can't be. */

export function probeHello(fields: Fields): ProbeHello {
  return {
    protocol: protocolOf(fields),
    build: fields.text(F.BUILD),
    bootID: fields.text(F.BOOT_ID),
    cgroup: oneOf(['v1', 'v2', 'hybrid', 'none'], fields.text(F.CGROUP_VERSION)),
    clockTicksPerSecond: fields.number(F.CLOCK_TICKS),
    pageSizeBytes: fields.number(F.PAGE_SIZE),
  };
}

export function processFacts(fields: Fields): ProcessFacts {
  return {
    pid: fields.number(F.PID),
    startTicks: fields.big(F.START_TICKS),
    uid: fields.number(F.UID),
    nsPids: fields.numbers(F.NS_PID),
    cgroup: fields.text(F.CGROUP),
  };
}

export function fileReadings(fields: Fields): FileReading[] {
  return fields.all(F.FILE).map((file) => {
    const one = new Fields(file);
    const path = one.text(F.PATH);
    return one.has(F.ERRNO) ? { path, errno: one.text(F.ERRNO) } : { path, content: one.text(F.CONTENT) };
  });
}

export function statfsOf(fields: Fields): {
  type: number;
  blockSize: bigint;
  blocks: bigint;
  bavail: bigint;
  bfree: bigint;
  files: bigint;
  ffree: bigint;
} {
  return {
    type: fields.number(F.FS_TYPE),
    blockSize: fields.big(F.BLOCK_SIZE),
    blocks: fields.big(F.BLOCKS),
    bavail: fields.big(F.BAVAIL),
    bfree: fields.big(F.BFREE),
    files: fields.big(F.FILES),
    ffree: fields.big(F.FFREE),
  };
}

export function initHello(fields: Fields): InitHello {
  return {
    protocol: protocolOf(fields),
    build: fields.text(F.BUILD),
    gate: fields.number(F.GATE) === 1,
    uid: fields.number(F.UID),
    gid: fields.number(F.GID),
    connection: fields.number(F.CONNECTION),
    processes: fields.all(F.PROCESS).map((record) => processRecord(new Fields(record))),
    outsideSignals: fields.numbers(F.SIGNAL),
    ...(fields.has(F.SIGNAL_AT) ? { outsideSignalTimes: fields.numbers(F.SIGNAL_AT) } : {}),
    ...(fields.has(F.BOOT_MS) ? { bootMs: fields.number(F.BOOT_MS) } : {}),
    ...(fields.has(F.FENCED_AT) ? { fencedAtBootMs: fields.number(F.FENCED_AT) } : {}),
  };
}

function processRecord(fields: Fields): ProcessRecord {
  const exited = fields.number(F.STATE) === 1;
  return {
    id: fields.number(F.ID),
    pid: fields.number(F.PID),
    startTicks: fields.big(F.START_TICKS),
    state: exited ? 'exited' : 'running',
    ...(exited ? { exit: processExit(fields) } : {}),
    ...(fields.has(F.STAGE) ? { failed: { stage: stageOf(fields), errno: fields.text(F.ERRNO) } } : {}),
    stdinReceived: fields.big(F.STDIN_RECEIVED),
  };
}

export function processExit(fields: Fields): ProcessExit {
  const endedBy = (['itself', 'timeout', 'agent', 'outside', 'fence'] as const)[fields.number(F.ENDED_BY)];
  return {
    exitCode: fields.optionalNumber(F.EXIT_CODE),
    signal: fields.optionalNumber(F.TERM_SIGNAL),
    coreDumped: fields.number(F.CORE_DUMPED) !== 0,
    startedAtBootMs: fields.number(F.STARTED_AT),
    endedAtBootMs: fields.number(F.ENDED_AT),
    maxRssBytes: fields.number(F.MAX_RSS),
    userMicros: fields.number(F.USER_MICROS),
    systemMicros: fields.number(F.SYSTEM_MICROS),
    endedBy: endedBy ?? 'itself',
    ...(fields.has(F.SIGNAL_AT)
      ? { outside: { signal: fields.number(F.SIGNAL), atBootMs: fields.number(F.SIGNAL_AT) } }
      : {}),
  };
}

export function limitResult(fields: Fields): LimitResult {
  if (!fields.has(F.ERRNO)) return 'changed';
  return fields.text(F.ERRNO) === 'EALREADY' ? 'ending' : 'ended';
}

export function heartbeatResult(fields: Fields): HeartbeatResult {
  const bootMs = fields.number(F.BOOT_MS);
  if (!fields.has(F.ERRNO)) return { is: 'taken', bootMs };
  return fields.text(F.ERRNO) === 'ESHUTDOWN' ? { is: 'too-late' } : { is: 'refused', bootMs };
}

export function startFailure(fields: Fields): StartResult {
  return { ok: false, stage: stageOf(fields), errno: fields.text(F.ERRNO) };
}

function stageOf(fields: Fields): StartFailureStage {
  return oneOf(['chdir', 'exec', 'fork', 'pty', 'duplicate'], fields.text(F.STAGE));
}

export function streamName(fields: Fields): 'stdout' | 'stderr' {
  return fields.number(F.STREAM) === 2 ? 'stderr' : 'stdout';
}

function protocolOf(fields: Fields): number {
  const protocol = fields.number(F.PROTOCOL);
  if (protocol < 1) throw new LinkError('Garbage', 'hello without a protocol version');
  return protocol;
}

function oneOf<T extends string>(known: readonly T[], value: string): T {
  const found = known.find((one) => one === value);
  if (found === undefined) throw new LinkError('Garbage', `"${value}" is none of ${known.join(', ')}`);
  return found;
}
