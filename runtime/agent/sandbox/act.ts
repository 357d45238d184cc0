import type { Action } from './types.ts';
import { collect, release } from './act/collect.ts';
import { conclude } from './act/conclude.ts';
import type { ActContext } from './act/context.ts';
import { create } from './act/create.ts';
import { fence, liftFence, noteFence } from './act/fence.ts';
import { forget } from './act/forget.ts';
import { setupDone, startMain, startSetup } from './act/launch.ts';
import { listen } from './act/listen.ts';
import { receipt } from './act/receipt.ts';
import { refuse } from './act/refuse.ts';
import { discard, giveUp, removeContainer, tearDown } from './act/remove.ts';
import { restart } from './act/restart.ts';
import { start } from './act/start.ts';
import { kill, stop, stopAgain, unpause } from './act/stop.ts';
import { changeTimeLimit } from './act/time-limit.ts';
import { updateLimits } from './act/update-limits.ts';

/** Does what was decided. `hand-back` is a write of the status alone, which the loop does. */
export function act(action: Action, context: ActContext): Promise<void> {
  switch (action.do) {
    case 'create':
      return create(context);
    case 'start':
      return start(context);
    case 'listen':
      return listen(context);
    case 'receipt':
      return receipt(context);
    case 'start-setup':
      return startSetup(context);
    case 'setup-done':
      return setupDone(context);
    case 'start-main':
      return startMain(context);
    case 'refuse':
      return refuse(context, action);
    case 'fence':
      return fence(context);
    case 'lift-fence':
      return liftFence(context);
    case 'note-fence':
      return noteFence(context);
    case 'time-limit':
      return changeTimeLimit(context, action.launch);
    case 'collect':
      return collect(context, action.launch);
    case 'release':
      return release(context, action.launch);
    case 'conclude':
      return conclude(context);
    case 'stop':
      return stop(context, action.reason);
    case 'stop-again':
      return stopAgain(context);
    case 'kill':
      return kill(context);
    case 'unpause':
      return unpause(context);
    case 'restart':
      return restart(context);
    case 'update-limits':
      return updateLimits(context);
    case 'discard':
      return discard(context);
    case 'give-up':
      return giveUp(context, action.message);
    case 'remove-container':
      return removeContainer(context);
    case 'tear-down':
      return tearDown(context);
    case 'forget':
      return forget(context);
    case 'hand-back':
      return Promise.resolve();
  }
}
