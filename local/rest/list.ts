import type { StoredObject } from '../object.ts';
import type { Row, Store } from '../store/store.ts';
import { type Call, fromStorage, storageId } from './call.ts';
import { type ContinueToken, decodeToken, encodeToken, expiredToken } from './continue-token.ts';
import type { ListOptions } from './list-options.ts';
import type { Selection } from './selection.ts';
import { refuse } from './status.ts';

export interface ListPage {
  rows: Row[];
  resourceVersion: number;
  continueToken: string | undefined;
  remaining: number | undefined;
}

/** Objects looked at between two looks at how many matched. */
const CHUNK = 500;

/** One page of a list: a consistent state, the one of the first page. */
export function list(call: Call, options: ListOptions, selection: Selection, store: Store): ListPage {
  const token = options.continueToken === undefined ? undefined : decodeToken(options.continueToken);
  const at = snapshot(options, token, store);
  const prefix = call.kind.namespaced && call.namespace !== undefined ? `${call.namespace}/` : '';
  const id = storageId(call.kind);
  const from = { prefix, at };
  // A token is the client's word: its key counts from the prefix on, so that none reaches out of the namespace.
  const start = token === undefined ? undefined : prefix + token.start;
  if (selection.all) {
    const wanted = options.limit === 0 ? -1 : options.limit;
    const rows = store.page(id, { ...from, after: start, limit: wanted });
    return page(rows, rows.at(-1)?.key, { store, id, from, limit: options.limit, at, counted: true });
  }
  const rows: Row[] = [];
  let after = start;
  for (;;) {
    const chunk = store.page(id, { ...from, after, limit: CHUNK });
    for (const row of chunk) {
      after = row.key;
      if (!selection.matches(fromStorage(call, JSON.parse(row.body) as StoredObject))) continue;
      rows.push(row);
      if (rows.length === options.limit) {
        return page(rows, after, { store, id, from, limit: options.limit, at, counted: false });
      }
    }
    if (chunk.length < CHUNK)
      return { rows, resourceVersion: at, continueToken: undefined, remaining: undefined };
  }
}

function page(
  rows: Row[],
  last: string | undefined,
  context: {
    store: Store;
    id: string;
    from: { prefix: string; at: number };
    limit: number;
    at: number;
    counted: boolean;
  },
): ListPage {
  const { store, id, from, limit, at } = context;
  const done: ListPage = { rows, resourceVersion: at, continueToken: undefined, remaining: undefined };
  if (limit === 0 || rows.length < limit || last === undefined) return done;
  const remaining = store.count(id, { ...from, after: last });
  if (remaining === 0) return done;
  return {
    ...done,
    continueToken: encodeToken({ rv: at, start: last.slice(from.prefix.length) }),
    remaining: context.counted ? remaining : undefined,
  };
}

/** The revision that a list shows; throws 400, 410 or 504 where it cannot. */
function snapshot(options: ListOptions, token: ContinueToken | undefined, store: Store): number {
  const wanted = options.resourceVersion ?? 0;
  if (token !== undefined) {
    if (wanted !== 0) {
      throw refuse.badRequest('specifying resource version is not allowed when using continue');
    }
    if (token.rv < 0) return store.rv;
    if (token.rv < store.compacted) throw expiredToken(token);
    return Math.min(token.rv, store.rv);
  }
  if (wanted > store.rv) throw refuse.tooLargeResourceVersion(wanted, store.rv);
  const exact = options.match === 'Exact' || (options.match === undefined && wanted > 0 && options.limit > 0);
  if (!exact) return store.rv;
  if (wanted < store.compacted) {
    throw refuse.expired('The resourceVersion for the provided list is too old.');
  }
  return wanted;
}
