import { appendFileSync } from 'node:fs';

/**
 * Every side effect of agent, controller and API server is a named step. A crash may fall before or after any of them;
 * the suites kill the process at each once and look whether the next one comes to the same end.
 */
export type Steps = <T>(name: string, effect: () => Promise<T>) => Promise<T>;
/** The same for effects that hold the thread, as those of a database do. */
export type SyncSteps = <T>(name: string, effect: () => T) => T;

/** No faults: what the product runs with. */
export const plainSteps: Steps = (_name, effect) => effect();

/**
 * Steps that end this process with SIGKILL at one point, `before:NAME` or `after:NAME`: nothing gets to tidy up, as
 * when the kernel or an operator kills it. `#N` at the end waits for the N-th passing.
 */
export function faultySteps(point: string, kill: () => void): Steps {
  const pass = passing(point, kill);
  return async (name, effect) => {
    pass(`before:${name}`);
    try {
      return await effect();
    } finally {
      pass(`after:${name}`);
    }
  };
}

export function faultySyncSteps(point: string, kill: () => void): SyncSteps {
  const pass = passing(point, kill);
  return (name, effect) => {
    pass(`before:${name}`);
    try {
      return effect();
    } finally {
      pass(`after:${name}`);
    }
  };
}

function passing(point: string, kill: () => void): (here: string) => void {
  const [where = '', count = '1'] = point.split('#');
  let left = Number(count);
  return (here) => {
    if (here !== where) return;
    left -= 1;
    if (left === 0) kill();
  };
}

/** Steps that tell of each that begins, so that it can be counted how often which is passed. */
function tracedSteps(note: (name: string) => void): Steps {
  return (name, effect) => {
    note(name);
    return effect();
  };
}

/** The steps this process runs with: HOLDFAST_FAULT_POINT and HOLDFAST_FAULT_TRACE (a file) are for tests alone. */
export function stepsFromEnvironment(env: NodeJS.ProcessEnv = process.env): Steps {
  const point = env['HOLDFAST_FAULT_POINT'] ?? '';
  if (point !== '') return faultySteps(point, killThisProcess);
  const trace = env['HOLDFAST_FAULT_TRACE'] ?? '';
  if (trace !== '') return tracedSteps((name) => appendFileSync(trace, `${name}\n`));
  return plainSteps;
}

export function syncStepsFromEnvironment(env: NodeJS.ProcessEnv = process.env): SyncSteps {
  const point = env['HOLDFAST_FAULT_POINT'] ?? '';
  if (point !== '') return faultySyncSteps(point, killThisProcess);
  const trace = env['HOLDFAST_FAULT_TRACE'] ?? '';
  if (trace === '') return (_name, effect) => effect();
  return (name, effect) => {
    appendFileSync(trace, `${name}\n`);
    return effect();
  };
}

/** The signal is delivered before the call returns: nothing of this process runs after it. */
function killThisProcess(): void {
  process.kill(process.pid, 'SIGKILL');
}
