import type { JSONSchemaProps } from './crd-types.ts';
import { childPath, type FieldError, fieldErrors, indexPath, keyPath } from './field-error.ts';
import { goJSON, isObject, type Json, type JsonObject } from './json.ts';

/** Duplicates in lists whose x-kubernetes-list-type is `set` or `map`. */
export function validateListTypes(value: Json, schema: JSONSchemaProps | undefined, path = ''): FieldError[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    return [
      ...validateArray(value, schema, path),
      ...value.flatMap((item, i) => validateListTypes(item, schema.items, indexPath(path, i))),
    ];
  }
  if (!isObject(value)) return [];
  const more = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  return Object.entries(value).flatMap(([key, item]) => {
    const property = schema.properties?.[key];
    return [
      ...(more === undefined ? [] : validateListTypes(item, more, keyPath(path, key))),
      ...(property === undefined ? [] : validateListTypes(item, property, childPath(path, key))),
    ];
  });
}

function validateArray(value: Json[], schema: JSONSchemaProps, path: string): FieldError[] {
  if (schema['x-kubernetes-list-type'] === 'set')
    return repeated(value).map((i) => fieldErrors.duplicate(indexPath(path, i), value[i]));
  if (schema['x-kubernetes-list-type'] !== 'map') return [];
  const odd = value.findIndex((item) => item !== null && !isObject(item));
  if (odd >= 0)
    return [
      fieldErrors.invalid(
        indexPath(path, odd),
        value[odd],
        'must be an object for an array of list-type map',
      ),
    ];
  const keys = value.map((item) => mapKey(item, schema['x-kubernetes-list-map-keys'] ?? []));
  return repeated(keys).map((i) => fieldErrors.duplicate(indexPath(path, i), keys[i]));
}

/** The key of an item of a map list: the members that its schema names as keys, where they are there. */
export function mapKey(item: Json, keys: string[]): JsonObject {
  const out: JsonObject = {};
  if (!isObject(item)) return out;
  for (const key of keys) if (Object.hasOwn(item, key)) out[key] = item[key] ?? null;
  return out;
}

/** Each value's second appearance, once. */
function repeated(values: Json[]): number[] {
  const seen = new Map<string, number>();
  const out: number[] = [];
  for (const [i, value] of values.entries()) {
    const key = goJSON(value);
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    if (times === 2) out.push(i);
  }
  return out;
}
