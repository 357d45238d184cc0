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
    readObject(object, root, { path: '', field: '', struct: kind, unknown });
    return unknown.sort();
  };
}

interface Place {
  /** With indexes and map keys: for the names of unknown fields. */
  path: string;
  /** Without them: for messages about types. */
  field: string;
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

/** The Go type that a reference names: its last word. */
function structOf(reference: Schema | undefined): string | undefined {
  const ref = reference?.$ref ?? reference?.allOf?.[0]?.$ref;
  return ref?.slice(ref.lastIndexOf('.') + 1);
}

function read(value: Json, reference: Schema | undefined, place: Place): void {
  const schema = resolved(reference);
  switch (schema.type) {
    case 'object':
      if (!isObject(value)) throw mismatch(value, place, 'object');
      readObject(value, schema, { ...place, struct: structOf(reference) ?? place.struct });
      return;
    case 'array':
      if (!Array.isArray(value)) throw mismatch(value, place, 'slice');
      for (const [i, item] of value.entries()) {
        if (item === null) value[i] = zeroOf(schema.items);
        else read(item, schema.items, { ...place, path: `${place.path}[${i}]` });
      }
      return;
    case 'string':
      if (typeof value !== 'string') throw mismatch(value, place, 'string');
      if (schema.format === 'date-time') checkTime(value);
      if (schema.format === 'byte') checkBase64(value);
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
      const field = known ? (place.field === '' ? key : `${place.field}.${key}`) : place.field;
      read(item, next, { ...place, path, field });
    }
  }
}

/** What Go's decoder makes of a null in a list. */
function zeroOf(reference: Schema | undefined): Json {
  switch (resolved(reference).type) {
    case 'object':
      return {};
    case 'array':
      return [];
    case 'string':
      return '';
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return 0;
    default:
      return null;
  }
}

function mismatch(value: Json, place: Place, type: string): DecodeError {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return new DecodeError(
    `json: cannot unmarshal ${found} into Go struct field ${place.struct}.${place.field} of type ${type}`,
  );
}

function checkTime(value: string): void {
  if (!Number.isNaN(Date.parse(value))) return;
  throw new DecodeError(
    `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`,
  );
}

/** As Go's decoder: it names the first byte that it cannot take. */
function checkBase64(value: string): void {
  const text = value.replace(/[\r\n]/g, '');
  if (text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)) return;
  const wrong = text.search(/[^A-Za-z0-9+/]/);
  throw new DecodeError(
    `illegal base64 data at input byte ${wrong < 0 ? text.length - (text.length % 4) : wrong}`,
  );
}
