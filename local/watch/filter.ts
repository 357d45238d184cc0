import type { StoredObject } from '../object.ts';
import type { Change, ChangeType } from '../store/change.ts';

export interface SelectedEvent {
  type: ChangeType;
  object: StoredObject;
  /** The object's text, where the stored one can be sent as it is. */
  body: string | undefined;
}

/**
 * What a change is to a watch with selectors: an object that comes into the selection is added to it, one that
 * leaves it is deleted from it (shown as it last was in it, at the revision at which it left).
 */
export function selectEvent(
  change: Change,
  matches: ((object: StoredObject) => boolean) | undefined,
): SelectedEvent | undefined {
  if (matches === undefined) return { type: change.type, object: change.object, body: change.body };
  const before = change.previous !== undefined && matches(change.previous);
  if (change.type === 'DELETED') {
    return before ? { type: 'DELETED', object: change.object, body: change.body } : undefined;
  }
  if (matches(change.object)) {
    return { type: before ? 'MODIFIED' : 'ADDED', object: change.object, body: change.body };
  }
  if (!before || change.previous === undefined) return undefined;
  const last = {
    ...change.previous,
    metadata: { ...change.previous.metadata, resourceVersion: String(change.rv) },
  };
  return { type: 'DELETED', object: last, body: undefined };
}
