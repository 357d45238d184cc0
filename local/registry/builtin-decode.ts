import { builtinSchema, resolveRef } from '../openapi/components.ts';
import { isObject, type Json, type JsonObject } from '../schema/json.ts';
import { DecodeError } from '../schema/object-meta.ts';

/**
 * Reads objects of built-in kinds as Go's decoder does: fields their published schema does not know are dropped
 * and named, nulls are left out, and a value of the wrong type is a DecodeError.
 */

interface Schema {
  $ref?: string;
  allOf?: Schema[];
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
}

/** Undefined for a kind whose schema is not known. */
export function builtinDecoder(
  group: string,
  version: string,
  kind: string,
): ((object: JsonObject) => string[]) | undefined {
  const root = builtinSchema(group, version, kind) as Schema | undefined;
  if (root === undefined) return undefined;
  return (object) => {
    const unknown: string[] = [];
    readObject(object, root, { path: '', struct: kind, unknown });
    return unknown.sort();
  };
}

interface Place {
  path: string;
  /** The Go type whose field this is, for messages. */
  struct: string;
  unknown: string[];
}

/** Metadata is read apart (decodeObjectMeta). */
const APART = new Set(['apiVersion', 'kind', 'metadata']);

function resolved(schema: Schema | undefined): Schema {
  if (schema === undefined) return {};
  if (schema.$ref !== undefined) return resolved(resolveRef(schema.$ref));
  if (schema.type === undefined && schema.allOf?.length === 1) return resolved(schema.allOf[0]);
  return schema;
}

function read(value: Json, reference: Schema | undefined, place: Place): void {
  const schema = resolved(reference);
  switch (schema.type) {
    case 'object':
      if (!isObject(value)) throw mismatch(value, place, 'object');
      readObject(value, schema, place);
      return;
    case 'array':
      if (!Array.isArray(value)) throw mismatch(value, place, 'slice');
      for (const [i, item] of value.entries()) {
        if (item !== null) read(item, schema.items, { ...place, path: `${place.path}[${i}]` });
      }
      return;
    case 'string':
      if (typeof value !== 'string') throw mismatch(value, place, 'string');
      if (schema.format === 'date-time') checkTime(value);
      return;
    case 'integer':
      if (typeof value !== 'number' || !Number.isInteger(value))
        throw mismatch(value, place, schema.format ?? 'int');
      return;
    case 'number':
      if (typeof value !== 'number') throw mismatch(value, place, 'float64');
      return;
    case 'boolean':
      if (typeof value !== 'boolean') throw mismatch(value, place, 'bool');
      return;
    default:
  }
}

function readObject(value: JsonObject, schema: Schema, place: Place): void {
  for (const [key, item] of Object.entries(value)) {
    if (place.path === '' && APART.has(key)) continue;
    const path = place.path === '' ? key : `${place.path}.${key}`;
    const known = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
    const more = schema.additionalProperties;
    if (
      !known &&
      (more === undefined || more === false) &&
      (schema.properties !== undefined || more === false)
    ) {
      place.unknown.push(path);
      delete value[key];
    } else if (item === null) delete value[key];
    else {
      const next = known ? schema.properties?.[key] : typeof more === 'object' ? more : undefined;
      read(item, next, { ...place, path });
    }
  }
}

function mismatch(value: Json, place: Place, type: string): DecodeError {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return new DecodeError(
    `json: cannot unmarshal ${found} into Go struct field ${place.struct}.${place.path} of type ${type}`,
  );
}

function checkTime(value: string): void {
  if (!Number.isNaN(Date.parse(value))) return;
  throw new DecodeError(
    `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`,
  );
}
