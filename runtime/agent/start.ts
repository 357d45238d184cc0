import { timestamp } from '../../kube/conditions.ts';
import { Agent as Running } from './agent.ts';
import { stepsFromEnvironment } from '../../kube/fault-points.ts';
import { openLedger } from './ledger/ledger.ts';
import type { Agent, AgentOptions } from './options.ts';
import { createOutputs } from './output/outputs.ts';
import { readInitProgram } from './probe/image.ts';
import { keptInstance, lockDataDir } from './registration/identity.ts';
import { join } from 'node:path';

/**
 * Starts the agent of one node. Resolves when it has taken its data folder and read what is in it; everything else,
 * the API and the runtimes included, may come later. Throws DataDirInUse, or what reading the folder or the init
 * binary throws.
 */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const unlock = await lockDataDir(options.dataDir);
  try {
    const program = await readInitProgram(options.initBinary);
    const instance = await keptInstance(options.dataDir, options.instance);
    const ledger = await openLedger(join(options.dataDir, 'ledger'), (path, why) =>
      options.log.warn({ path, why }, 'a record of the ledger is not used: its content is none'),
    );
    const outputs = createOutputs(options.dataDir, options.clock);
    const running = new Running({
      ...options,
      instance,
      program,
      ledger,
      outputs,
      step: stepsFromEnvironment(),
      startedAt: timestamp(options.clock.now()),
    });
    const done = finish(running, async () => {
      await outputs.closeAll();
      await unlock();
    });
    return { stop: (how) => running.stop(how).then(() => done), notReady: () => running.notReady(), done };
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function finish(running: Running, tidy: () => Promise<void>): Promise<void> {
  try {
    await running.run();
  } finally {
    await tidy();
  }
}
