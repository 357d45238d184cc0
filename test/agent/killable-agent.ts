import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { AgentProcessOptions } from './agent-process.ts';

const SCRIPT = join(import.meta.dirname, 'agent-process.ts');

/** An agent that dies at a fault point and is started again, as an init system would. */
export interface KillableAgent {
  /** How often it was killed, at the fault point or by `kill`. */
  readonly deaths: number;
  /** SIGKILL, and a new one. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export function startKillableAgent(options: AgentProcessOptions, faultPoint?: string): KillableAgent {
  let deaths = 0;
  let stopping = false;
  let child = spawn(options, faultPoint);
  const watch = (one: ChildProcess): void => {
    one.once('exit', (_code, signal) => {
      if (signal === 'SIGKILL') deaths += 1;
      if (stopping) return;
      child = spawn(options, undefined);
      watch(child);
    });
  };
  watch(child);
  return {
    get deaths() {
      return deaths;
    },
    kill: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    stop: async () => {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

function spawn(options: AgentProcessOptions, faultPoint: string | undefined): ChildProcess {
  return fork(SCRIPT, [JSON.stringify(options)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, HOLDFAST_FAULT_POINT: faultPoint ?? '' },
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
}
