import type { Source } from '../rest/represent.ts';
import type { StoredObject } from '../object.ts';
import type { Change, ChangeType } from '../store/change.ts';

export interface SelectedEvent {
  type: ChangeType;
  source: Source;
}

/**
 * What a change is to a watch with selectors: an object that comes into the selection is added to it, one that
 * leaves it is deleted from it (shown as it last was in it, at the revision at which it left).
 */
export function selectEvent(
  change: Change,
  matches: ((object: StoredObject) => boolean) | undefined,
  view: (object: StoredObject) => StoredObject,
): SelectedEvent | undefined {
  if (matches === undefined) return { type: change.type, source: change };
  const before = change.previous !== undefined && matches(change.previous);
  if (change.type === 'DELETED') {
    return before ? { type: 'DELETED', source: change } : undefined;
  }
  if (matches(change.object)) {
    return { type: before ? 'MODIFIED' : 'ADDED', source: change };
  }
  if (!before || change.previous === undefined) return undefined;
  const last = view(change.previous);
  const metadata = { ...last.metadata, resourceVersion: String(change.rv) };
  return { type: 'DELETED', source: { object: { ...last, metadata } } };
}
