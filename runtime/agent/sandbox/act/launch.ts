import type { StartResult } from '../../../link/types.ts';
import type { Termination } from '../../../../crds/limits-status.ts';
import { type Command, mainCommand, setupCommand } from '../command.ts';
import { MAIN_ID, SETUP_ID } from '../../session/live-session.ts';
import { type ActContext, NotNow, recordOf, rfc3339, say, sessionOf } from './context.ts';
import { STILL_MS } from './collect.ts';
import { concludeStartFailure } from './conclude.ts';
import { judgeLaunch } from './evidence.ts';
import { readReceipt } from './receipt.ts';
import { noteDeadline, timeLimitMs } from './time-limit.ts';

/**
 * Written down before START is sent, so that no launch is ever begun without a trace (O10). Runs beside the write of
 * the status that announces it; START waits for both.
 */
export async function intendLaunch(context: ActContext, launch: 'setup' | 'main'): Promise<void> {
  const { services, seen } = context;
  const record = recordOf(context);
  const session = sessionOf(context);
  if (record[launch]?.start === record.starts) return;
  record[launch] = {
    intendedAt: rfc3339(services.clock.now().getTime()),
    start: record.starts,
    flagBefore: seen.container?.oomKilled ?? false,
    ...(session.baseline === undefined ? {} : { baseline: session.baseline }),
  };
  await services.step('ledger-launch', () => services.ledger.put(record));
}

export async function startSetup(context: ActContext): Promise<void> {
  const { services, run, seen } = context;
  const record = recordOf(context);
  const session = sessionOf(context);
  const spec = seen.sandbox?.spec;
  if (spec?.setup === undefined) throw new NotNow('there is no setup');
  const image = await imageOf(context);
  const timeoutMs = timeLimitMs(spec, record, 'setup');
  const result = await services.step('start-setup', () =>
    session.init.start({
      id: SETUP_ID,
      ...command(setupCommand(spec, image)),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      graceMs: (spec.terminationGracePeriodSeconds ?? 10) * 1000,
    }),
  );
  if (!began(result)) {
    await failed(context, 'Setup', setupCommand(spec, image), result);
    return;
  }
  session.begun('setup');
  noteDeadline(record, 'setup', spec);
  if (record.setup !== undefined) record.setup.startedAt ??= rfc3339(services.clock.now().getTime());
  run.userCodeMs ??= services.clock.monotonicMs();
}

/** What setup did stays in the record, whatever becomes of main. */
export async function setupDone(context: ActContext): Promise<void> {
  const { services } = context;
  const record = recordOf(context);
  const session = sessionOf(context);
  const exit = session.process('setup')?.exit;
  if (record.setup === undefined || exit === undefined) throw new NotNow('setup has not ended');
  await session.drained('setup', STILL_MS);
  // Counters anew: main begins from here, and what the limit did to setup is not main's.
  await readReceipt(context, session);
  const endedAt = rfc3339(services.clock.now().getTime());
  record.setup = {
    ...record.setup,
    exit,
    endedAt,
    ...(session.baseline === undefined ? {} : { closing: session.baseline }),
  };
  const { termination, verdict } = judgeLaunch(context, 'Setup', { held: true, askedForMs: 0 });
  record.setup.termination = termination;
  if (verdict.oom !== undefined) record.setup.oom = verdict.oom;
  await services.step('ledger-setup-done', () => services.ledger.put(record));
  say(context, 'Normal', 'SetupCompleted', 'The setup command ended with exit code 0.');
  if (verdict.oom !== undefined) say(context, 'Warning', 'OOMKilled', verdict.oom.message);
}

/** START, for a sandbox with a command; opening, for a retained one. */
export async function startMain(context: ActContext): Promise<void> {
  const { services, run, seen } = context;
  const record = recordOf(context);
  const session = sessionOf(context);
  const spec = seen.sandbox?.spec;
  if (spec === undefined) throw new NotNow('the sandbox is gone');
  if (!record.retained) {
    const image = await imageOf(context);
    const timeoutMs = timeLimitMs(spec, record, 'main');
    const result = await services.step('start-main', () =>
      session.init.start({
        id: MAIN_ID,
        ...command(mainCommand(spec, image)),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        graceMs: (spec.terminationGracePeriodSeconds ?? 10) * 1000,
      }),
    );
    if (!began(result)) {
      await failed(context, 'Main', mainCommand(spec, image), result);
      return;
    }
    session.begun('main');
    noteDeadline(record, 'main', spec);
  }
  run.userCodeMs ??= services.clock.monotonicMs();
  if (record.main !== undefined) record.main.startedAt ??= rfc3339(services.clock.now().getTime());
  run.noteStarted = true;
  say(
    context,
    'Normal',
    'LimitsEnforced',
    `Limits in force: ${session.receipt?.limits.summary ?? 'read back'}.`,
  );
  say(
    context,
    'Normal',
    'Started',
    record.retained ? 'The sandbox is open for processes.' : 'The command was started.',
  );
}

function began(result: StartResult): boolean {
  // A duplicate: an earlier agent's START did arrive.
  return result.ok || result.stage === 'duplicate';
}

function command(from: Command): { argv: string[]; env: string[]; workingDir: string } {
  return { argv: from.argv, env: from.env, workingDir: from.workingDir };
}

async function imageOf({ services, run, runtime, seen }: ActContext): Promise<NonNullable<typeof run.image>> {
  const id = run.record?.imageID ?? seen.container?.imageID;
  if (run.image === undefined && id !== undefined) {
    run.image = await runtime.driver.inspectImage(id, { signal: services.signal });
  }
  if (run.image === undefined) throw new NotNow('the image of the container is not known');
  return run.image;
}

async function failed(
  context: ActContext,
  launch: Termination['launch'],
  what: Command,
  result: StartResult,
): Promise<void> {
  if (result.ok) return;
  if (result.stage === 'fork' || result.stage === 'pty') {
    throw new Error(`the command could not be started: ${result.stage}: ${result.errno}`);
  }
  await concludeStartFailure(context, launch, what, { stage: result.stage, errno: result.errno });
}
