import { byText, type Manager, managerKey, type Managers, seconds } from './managers.ts';

/** Of those that have updated an object, this many are told apart. */
const MAX_UPDATERS = 10;
const OLD = 'ancient-changes';

/** Puts the oldest updaters of each version together until there are few enough. Appliers are never put together. */
export function capUpdaters(managers: Managers): void {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  let left = updaters.length;
  if (left <= MAX_UPDATERS) return;
  updaters.sort(([a, x], [b, y]) => seconds(x) - seconds(y) || byText(a, b));
  const first = new Map<string, string>();
  for (const [key, updater] of updaters) {
    if (left <= MAX_UPDATERS) return;
    const { apiVersion } = updater;
    const oldest = first.get(apiVersion);
    if (oldest === undefined) {
      first.set(apiVersion, key);
      continue;
    }
    const bucket: Manager = {
      manager: OLD,
      operation: 'Update',
      apiVersion,
      subresource: '',
      fields: updater.fields,
      time: updater.time,
    };
    const name = managerKey(bucket);
    const before = managers.get(name) ?? managers.get(oldest);
    if (!managers.has(name)) managers.delete(oldest);
    managers.delete(key);
    managers.set(name, { ...bucket, fields: before?.fields.union(updater.fields) ?? updater.fields });
    left -= 1;
  }
}
