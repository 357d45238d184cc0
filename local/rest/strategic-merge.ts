import { isRecord } from '../object.ts';
import { refuse } from './status.ts';

/**
 * Strategic merge patch, for the built-in kinds that are served here: as a merge patch, but that lists with a key
 * are merged by it, and that `$patch`, `$retainKeys`, `$setElementOrder` and `$deleteFromPrimitiveList` are obeyed.
 */

/** Lists that are merged: path (list items left out) -> the key of their items, or '' for a set of strings. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  'metadata.ownerReferences': 'uid',
  'metadata.finalizers': '',
  secrets: 'name',
  imagePullSecrets: 'name',
  'status.conditions': 'type',
};

type Fields = Record<string, unknown>;

export function strategicMerge(target: unknown, patch: unknown): Fields {
  if (!isRecord(patch)) throw refuse.badRequest('the patch must be a JSON object');
  return mergeMap(isRecord(target) ? target : {}, patch, '');
}

function mergeMap(target: Fields, patch: Fields, path: string): Fields {
  const directive = patch['$patch'];
  if (directive === 'replace') return withoutDirectives(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') {
    throw refuse.badRequest(`Unknown patch type: ${JSON.stringify(directive)} in map`);
  }
  const out: Fields = { ...target };
  const retain = patch['$retainKeys'];
  if (Array.isArray(retain)) dropOthers(out, new Set(retain));
  for (const [key, value] of Object.entries(patch)) {
    if (key === '__proto__') continue;
    const at = path === '' ? key : `${path}.${key}`;
    if (key === '$deleteFromPrimitiveList') throw refuse.badRequest('invalid patch format of primitive list');
    if (key.startsWith('$deleteFromPrimitiveList/')) {
      dropFrom(out, key.slice('$deleteFromPrimitiveList/'.length), value);
    } else if (key.startsWith('$')) continue;
    else if (value === null) delete out[key];
    else if (isRecord(value)) out[key] = mergeMap(isRecord(out[key]) ? out[key] : {}, value, at);
    else if (Array.isArray(value)) out[key] = mergeList(out[key], value, patch, key, at);
    else out[key] = value;
  }
  return out;
}

function dropOthers(out: Fields, kept: Set<unknown>): void {
  for (const key of Object.keys(out)) if (!kept.has(key)) delete out[key];
}

function withoutDirectives(patch: Fields): Fields {
  return Object.fromEntries(Object.entries(patch).filter(([key]) => !key.startsWith('$')));
}

function dropFrom(out: Fields, key: string, dropped: unknown): void {
  const list = out[key];
  if (!Array.isArray(list) || !Array.isArray(dropped)) return;
  const gone = new Set<unknown>(dropped);
  out[key] = list.filter((item) => !gone.has(item));
}

function mergeList(target: unknown, patch: unknown[], parent: Fields, key: string, path: string): unknown[] {
  const mergeKey = MERGE_KEYS[path];
  const current = Array.isArray(target) ? (target as unknown[]) : [];
  if (mergeKey === undefined) return patch;
  const order = parent[`$setElementOrder/${key}`];
  const id = (item: unknown): unknown => (mergeKey !== '' && isRecord(item) ? item[mergeKey] : item);
  const merged = mergeKey === '' ? union(current, patch) : mergeByKey(current, patch, mergeKey, path);
  return inOrder(interleave(merged, current.map(id), patch.map(id), id), order, id);
}

function union(current: unknown[], patch: unknown[]): unknown[] {
  const present = new Set(current);
  return [...current, ...patch.filter((item) => !present.has(item))];
}

function mergeByKey(current: unknown[], patch: unknown[], mergeKey: string, path: string): unknown[] {
  const merged: unknown[] = [...current];
  // By key: a request can have a hundred thousand of them.
  const places = ranksOf(current.map((item) => (isRecord(item) ? item[mergeKey] : undefined)));
  const deleted = new Set<number>();
  for (const item of patch) {
    if (!isRecord(item)) continue;
    if (item['$patch'] === 'replace') {
      return patch.filter((other) => !isRecord(other) || other['$patch'] === undefined);
    }
    const id = item[mergeKey];
    if (id === undefined)
      throw refuse.badRequest(
        `map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`,
      );
    const place = places.get(id);
    if (item['$patch'] === 'delete') {
      if (place !== undefined) deleted.add(place);
      places.delete(id);
    } else if (place === undefined) places.set(id, merged.push(item) - 1);
    else merged[place] = mergeMap(merged[place] as Fields, item, path);
  }
  return merged.filter((_, place) => !deleted.has(place));
}

/** The patch's items in its order, the others in theirs; a new item of the patch comes before what it meets. */
function interleave(
  merged: unknown[],
  current: unknown[],
  patch: unknown[],
  id: (item: unknown) => unknown,
): unknown[] {
  const ranks = ranksOf(patch);
  const places = ranksOf(current);
  const rank = (item: unknown): number => ranks.get(id(item)) ?? -1;
  const place = (item: unknown): number => places.get(id(item)) ?? -1;
  const left = merged.filter((item) => rank(item) >= 0).toSorted((a, b) => rank(a) - rank(b));
  const right = merged.filter((item) => rank(item) < 0);
  const out: unknown[] = [];
  let next = 0;
  for (const item of left) {
    // Those that stood before it stay before it.
    for (; next < right.length && place(right[next]) < place(item); next += 1) out.push(right[next]);
    out.push(item);
  }
  return [...out, ...right.slice(next)];
}

/** Where each stands first. */
function ranksOf(ids: readonly unknown[]): Map<unknown, number> {
  const ranks = new Map<unknown, number>();
  ids.forEach((id, at) => {
    if (!ranks.has(id)) ranks.set(id, at);
  });
  return ranks;
}

function inOrder(items: unknown[], order: unknown, id: (item: unknown) => unknown): unknown[] {
  if (!Array.isArray(order)) return items;
  const ranks = ranksOf(order.map((item: unknown) => (isRecord(item) ? Object.values(item)[0] : item)));
  const rank = (item: unknown): number => ranks.get(id(item)) ?? ranks.size;
  return [...items].sort((a, b) => rank(a) - rank(b));
}
