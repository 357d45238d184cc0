import type { JSONSchemaProps } from './crd-types.ts';
import { deepEqual, isObject, type Json, member } from './json.ts';
import { mapKey } from './list-type.ts';

/** The value that stood at the same place before an update; absent where there is none to compare with. */
export type Old = { value: Json } | undefined;

export function oldMember(old: Old, schema: JSONSchemaProps | undefined, key: string): Old {
  if (old === undefined || !isObject(old.value)) return undefined;
  const mapType = schema?.['x-kubernetes-map-type'];
  if (mapType !== undefined && mapType !== 'granular' && mapType !== 'atomic') return undefined;
  const value = member(old.value, key);
  return value === undefined ? undefined : { value };
}

/** Only items of lists of type `map` can be told apart; those of others have no old value. */
export function oldItem(old: Old, schema: JSONSchemaProps | undefined, item: Json): Old {
  if (old === undefined || !Array.isArray(old.value) || schema?.['x-kubernetes-list-type'] !== 'map')
    return undefined;
  if (!isObject(item)) return undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const wanted = mapKey(item, keys);
  const value = old.value.find((other) => isObject(other) && deepEqual(mapKey(other, keys), wanted));
  return value === undefined ? undefined : { value };
}

export function unchanged(old: Old, value: Json): boolean {
  return old !== undefined && deepEqual(old.value, value);
}
