import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import { type Call, fromStorage, groupResource, storageId } from './call.ts';
import { type DeleteOptions, deleteStored } from './delete.ts';
import type { ListOptions } from './list-options.ts';
import { list, type ListPage } from './list.ts';
import type { Selection } from './selection.ts';
import { refuse } from './status.ts';

/** Deletions in one commit. */
const BATCH = 200;

/** DELETE of a collection: everything that is selected. Resolves with what it has found. */
export async function removeCollection(
  call: Call,
  listing: { options: ListOptions; selection: Selection },
  options: DeleteOptions,
  context: { store: Store; clock: Clock },
): Promise<ListPage> {
  const { store, clock } = context;
  const page = list(call, listing.options, listing.selection, store);
  if (call.dryRun) return page;
  const id = storageId(call.kind);
  for (let i = 0; i < page.rows.length; i += BATCH) {
    await store.write((tx) => {
      for (const row of page.rows.slice(i, i + BATCH)) {
        const stored = tx.get(id, row.key);
        if (stored === undefined) continue;
        // It may have changed since it was listed.
        if (!listing.selection.matches(fromStorage(call, structuredClone(stored)))) continue;
        const why = call.kind.traits.forbidDelete?.(stored);
        if (why !== undefined) throw refuse.forbidden(groupResource(call), stored.metadata.name, why);
        deleteStored(tx, call.kind, stored, options, clock);
      }
    });
  }
  return page;
}
