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
  if (Array.isArray(retain)) for (const key of Object.keys(out)) if (!retain.includes(key)) delete out[key];
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

function withoutDirectives(patch: Fields): Fields {
  return Object.fromEntries(Object.entries(patch).filter(([key]) => !key.startsWith('$')));
}

function dropFrom(out: Fields, key: string, dropped: unknown): void {
  const list = out[key];
  if (!Array.isArray(list) || !Array.isArray(dropped)) return;
  out[key] = list.filter((item) => !dropped.includes(item));
}

function mergeList(target: unknown, patch: unknown[], parent: Fields, key: string, path: string): unknown[] {
  const mergeKey = MERGE_KEYS[path];
  const current = Array.isArray(target) ? (target as unknown[]) : [];
  if (mergeKey === undefined) return patch;
  const order = parent[`$setElementOrder/${key}`];
  const id = (item: unknown): unknown => (mergeKey !== '' && isRecord(item) ? item[mergeKey] : item);
  const merged =
    mergeKey === ''
      ? [...current, ...patch.filter((item) => !current.includes(item))]
      : mergeByKey(current, patch, mergeKey, path);
  return inOrder(interleave(merged, current.map(id), patch.map(id), id), order, id);
}

function mergeByKey(current: unknown[], patch: unknown[], mergeKey: string, path: string): unknown[] {
  let merged = [...current];
  for (const item of patch) {
    if (!isRecord(item)) continue;
    if (item['$patch'] === 'replace') {
      merged = patch.filter((other) => !isRecord(other) || other['$patch'] === undefined);
      break;
    }
    const id = item[mergeKey];
    if (id === undefined)
      throw refuse.badRequest(
        `map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`,
      );
    const index = merged.findIndex((other) => isRecord(other) && other[mergeKey] === id);
    if (item['$patch'] === 'delete') {
      if (index >= 0) merged.splice(index, 1);
    } else if (index < 0) merged.push(item);
    else merged[index] = mergeMap(merged[index] as Fields, item, path);
  }
  return merged;
}

/** The patch's items in its order, the others in theirs; a new item of the patch comes before what it meets. */
function interleave(
  merged: unknown[],
  current: unknown[],
  patch: unknown[],
  id: (item: unknown) => unknown,
): unknown[] {
  const rank = (item: unknown): number => patch.indexOf(id(item));
  const left = merged.filter((item) => rank(item) >= 0).toSorted((a, b) => rank(a) - rank(b));
  const right = merged.filter((item) => rank(item) < 0);
  const out: unknown[] = [];
  for (const item of left) {
    const place = current.indexOf(id(item));
    // Those that stood before it stay before it.
    const before = right.filter((other) => current.indexOf(id(other)) < place);
    out.push(...right.splice(0, before.length), item);
  }
  return [...out, ...right];
}

function inOrder(items: unknown[], order: unknown, id: (item: unknown) => unknown): unknown[] {
  if (!Array.isArray(order)) return items;
  const ids = order.map((item: unknown) => (isRecord(item) ? Object.values(item)[0] : item));
  const rank = (item: unknown): number => {
    const index = ids.indexOf(id(item));
    return index < 0 ? ids.length : index;
  };
  return [...items].sort((a, b) => rank(a) - rank(b));
}
