import type { ActContext } from './context.ts';

/** The sandbox and everything of it are gone: nothing of it is remembered. */
export async function forget({ services, run }: ActContext): Promise<void> {
  await services.ledger.remove(run.uid);
  services.runs.delete(run.uid);
}
