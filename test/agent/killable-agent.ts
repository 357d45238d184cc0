import { join } from 'node:path';
import { type Faults, type MortalProcess, startMortalProcess } from '../mortal-process.ts';
import type { AgentProcessOptions } from './agent-process.ts';

const SCRIPT = join(import.meta.dirname, 'agent-process.ts');

export function startKillableAgent(options: AgentProcessOptions, faults: Faults = {}): MortalProcess {
  return startMortalProcess(SCRIPT, [JSON.stringify(options)], faults);
}
