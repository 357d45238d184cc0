import type { Action } from '../types.ts';
import { type ActContext, recordOf, say } from './context.ts';

/** User code is not run, and the same attempt would end the same way: written down, so that nobody tries again. */
export async function refuse(context: ActContext, action: Action & { do: 'refuse' }): Promise<void> {
  const { services } = context;
  const record = recordOf(context);
  record.refusal = { reason: action.reason, message: action.message };
  await services.step('ledger-refusal', () => services.ledger.put(record));
  say(context, 'Warning', 'Failed', action.message);
}
