import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RuntimeEvent } from '../driver.ts';
import type { Evidence, KernelCounters } from './evidence.ts';

/** For tests: the evidence in what a real daemon answered, as the lab recorded it. There was no init of ours in it. */

interface RecordedState {
  Status: 'exited';
  ExitCode: number;
  Error: string;
  OOMKilled: boolean;
}

export interface Recorded {
  scenario: string;
  state: RecordedState | null;
  state_after_2s: RecordedState | null;
  host_config: { Memory: number; MemorySwap: number } | null;
  counters: Record<string, string>;
  events: { Action: string; timeNano: number; exitCode?: string }[];
}

export interface RecordedRepeat {
  each: {
    run: number;
    exit_code: number;
    flag: boolean;
    oom_event: boolean;
    die_minus_oom_ms: number | null;
  }[];
}

export function readScenario(config: string, name: string): Recorded {
  return read(config, name) as Recorded;
}

export function readRepeat(config: string, name: string): RecordedRepeat {
  return read(config, name) as RecordedRepeat;
}

function read(config: string, name: string): unknown {
  const path = new URL(`../../test/lab/fixtures/${config}/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(fileURLToPath(path), 'utf8'));
}

export function fixtureEvidence(recorded: Recorded): Evidence {
  const { state, host_config: host, counters } = recorded;
  if (state === null || host === null) throw new Error(`${recorded.scenario} was never started`);
  // A cgroup made for the container alone begins at 0.
  const zero: KernelCounters = {
    oomKills: 0,
    limitHits: 0,
    parentOOMKills: 0,
    parentLimitHits: 0,
    readings: [],
  };
  return {
    launch: 'Main',
    limits: host.Memory > 0 ? { memoryBytes: host.Memory, swap: swap(host) } : {},
    // Values seen last by polling: they may be older than the end.
    kernel: { before: zero, after: recordedCounters(recorded.scenario, counters), held: false },
    container: { state: state.Status, exitCode: state.ExitCode, error: state.Error },
    flag: { before: false, after: recorded.state_after_2s?.OOMKilled ?? state.OOMKilled, askedForMs: 2000 },
    events: recorded.events.map((event, index) => recordedEvent(event, index, recorded)),
  };
}

function swap(host: { Memory: number; MemorySwap: number }): 'Held' | 'Unbounded' {
  return host.MemorySwap === host.Memory ? 'Held' : 'Unbounded';
}

function recordedCounters(scenario: string, counters: Record<string, string>): KernelCounters {
  const own = counters['last.memory.events'] ?? counters['last.memory.oom_control'];
  // The recorder gave each scenario a cgroup parent of its own on v2.
  const parent = counters[`ancestor./sys/fs/cgroup/runtime-lab/${scenario}/memory.events`];
  const peak = counters['last.memory.peak'] ?? counters['last.memory.max_usage_in_bytes'];
  const figures = {
    oomKills: figure(own, 'oom_kill'),
    // v1: memsw.failcnt was not recorded, so the hits are not known.
    limitHits: figure(counters['last.memory.events'], 'oom'),
    parentOOMKills: figure(parent, 'oom_kill'),
    parentLimitHits: figure(parent, 'oom'),
    peakBytes: peak === undefined ? undefined : Number(peak),
  };
  const known = Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined));
  return {
    ...known,
    readings: Object.entries(counters).map(([key, content]) => ({ path: key, content })),
  };
}

function figure(text: string | undefined, name: string): number | undefined {
  const match = new RegExp(`(?:^|; )${name} (\\d+)(?:;|$)`).exec(text ?? '');
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

/** The recorder left out the signals: Docker's stop sends 15 and then 9, everything else here was SIGKILL. */
function recordedEvent(
  event: Recorded['events'][number],
  index: number,
  recorded: Recorded,
): Pick<RuntimeEvent, 'action' | 'detail' | 'timeMs'> {
  const timeMs = Math.floor(event.timeNano / 1e6);
  if (event.Action === 'die') return { action: 'die', detail: Number(event.exitCode), timeMs };
  if (event.Action === 'kill') {
    const first = recorded.events.findIndex((other) => other.Action === 'kill') === index;
    return { action: 'kill', detail: first && recorded.scenario.startsWith('stop') ? 15 : 9, timeMs };
  }
  return { action: event.Action === 'oom' ? 'oom' : 'other', timeMs };
}
