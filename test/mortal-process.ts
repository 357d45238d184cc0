import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A program of ours that dies at a fault point and is started again, as an init system would. */
export interface MortalProcess {
  /** How often it was killed. */
  readonly deaths: number;
  /** What it says first, in whichever of its lives. */
  readonly says: Promise<unknown>;
  stop(): Promise<void>;
}

export interface Faults {
  /** `before:NAME`, `after:NAME#2`: where it is killed the first time it lives. */
  point?: string | undefined;
  /** A file that gets a line for each step that is passed. */
  trace?: string | undefined;
}

export function startMortalProcess(script: string, args: string[], faults: Faults = {}): MortalProcess {
  let deaths = 0;
  let stopping = false;
  const { promise: says, resolve: said } = Promise.withResolvers<unknown>();
  const start = ({ point = '', trace = '' }: Faults): ChildProcess => {
    const one = fork(script, args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, HOLDFAST_FAULT_POINT: point, HOLDFAST_FAULT_TRACE: trace },
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    one.once('message', said);
    one.once('exit', (_code, signal) => {
      if (signal === 'SIGKILL') deaths += 1;
      if (!stopping) child = start({});
    });
    return one;
  };
  let child = start(faults);
  return {
    says,
    get deaths() {
      return deaths;
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
