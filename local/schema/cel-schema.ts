import { parseDate, parseDuration, parseTimestamp } from './cel-time.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  STRING,
  TIMESTAMP,
} from './cel-types.ts';
import { CelError, CelMap, CelObject, type CelValue, markList } from './cel-values.ts';
import type { JSONSchemaProps } from './crd-types.ts';
import { isObject, type Json, member } from './json.ts';

const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const ESCAPES: Record<string, string> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** The name of a property in CEL; undefined where CEL cannot name it. */
function escapeName(name: string): string | undefined {
  if (name === '' || /^\d/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  if (/[^a-zA-Z0-9_./-]/.test(name)) return undefined;
  return name.replace(/__|[-./]/g, (part) => ESCAPES[part] ?? part);
}

/** Rules may also name a property by a keyword as it is: `self.namespace`. */
export function keywordField(name: string): string {
  return RESERVED.has(name) ? `__${name}__` : name;
}

const META: JSONSchemaProps = {
  type: 'object',
  properties: { name: { type: 'string' }, generateName: { type: 'string' } },
};

/** A resource's root, or an embedded resource: rules see its type, and of its metadata only the name. */
function asResource(schema: JSONSchemaProps): JSONSchemaProps {
  return {
    ...schema,
    properties: {
      ...schema.properties,
      kind: { type: 'string' },
      apiVersion: { type: 'string' },
      metadata: META,
    },
  };
}

const additional = (schema: JSONSchemaProps): JSONSchemaProps | undefined =>
  typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;

/** The static type of what a schema describes; undefined for what rules cannot see. */
export function declaredType(schema: JSONSchemaProps, isRoot: boolean, name = 'object'): CelType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return DYN;
  const view = isRoot ? asResource(schema) : schema;
  switch (view.type) {
    case 'array': {
      const items = view.items === undefined ? undefined : typeOf(view.items, `${name}.@idx`);
      return items === undefined ? undefined : listOf(items);
    }
    case 'object':
      return objectType(view, name);
    case 'string':
      return stringType(view.format);
    case 'boolean':
      return BOOL;
    case 'number':
      return DOUBLE;
    case 'integer':
      return INT;
    default:
      return undefined;
  }
}

const typeOf = (schema: JSONSchemaProps, name: string): CelType | undefined =>
  declaredType(schema, schema['x-kubernetes-embedded-resource'] === true, name);

function objectType(schema: JSONSchemaProps, name: string): CelType | undefined {
  const more = additional(schema);
  if (more !== undefined) {
    const value = typeOf(more, `${name}.@elem`);
    return value === undefined ? undefined : mapOf(STRING, value);
  }
  const fields = new Map<string, CelType>();
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const type = typeOf(property, `${name}.${key}`);
    const escaped = escapeName(key);
    if (type !== undefined && escaped !== undefined) fields.set(escaped, type);
  }
  return { kind: 'object', name, fields };
}

function stringType(format: string | undefined): CelType {
  switch (format) {
    case 'byte':
      return BYTES;
    case 'duration':
      return DURATION;
    case 'date':
    case 'date-time':
      return TIMESTAMP;
    default:
      return STRING;
  }
}

/** A JSON value as the rules of its schema see it. Throws CelError where it does not fit. */
export function toCel(value: Json, schema: JSONSchemaProps, isRoot: boolean): CelValue {
  if (value === null) {
    if (schema.nullable === true) return null;
    throw new CelError('invalid data, got null for schema with nullable=false');
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (typeof value === 'string') return value;
    if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
    throw new CelError('invalid data, expected XIntOrString value to be either a string or integer');
  }
  const view = isRoot ? asResource(schema) : schema;
  if (Array.isArray(value)) return toList(value, view);
  if (isObject(value)) return toObject(value, view);
  switch (view.type) {
    case 'string':
      return toText(value, view.format);
    case 'integer':
      if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
      break;
    case 'number':
      if (typeof value === 'number') return value;
      break;
    case 'boolean':
      if (typeof value === 'boolean') return value;
      break;
    default:
      break;
  }
  throw new CelError(`invalid data, expected ${view.type ?? 'a type'}`);
}

const child = (value: Json, schema: JSONSchemaProps): CelValue =>
  toCel(value, schema, schema['x-kubernetes-embedded-resource'] === true);

function toList(value: Json[], schema: JSONSchemaProps): CelValue {
  const { items } = schema;
  if (items === undefined) throw new CelError('invalid array type, expected Items with a non-empty Schema');
  const list = value.map((item) => child(item, items));
  const kind = schema['x-kubernetes-list-type'];
  if (kind !== 'set' && kind !== 'map') return list;
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => escapeName(key) ?? key);
  return markList(list, kind, keys);
}

function toObject(value: { [key: string]: Json }, schema: JSONSchemaProps): CelValue {
  const more = additional(schema);
  if (more !== undefined) {
    const entries = new Map<string, CelValue>();
    for (const [key, item] of Object.entries(value)) entries.set(key, child(item, more));
    return new CelMap(entries);
  }
  const fields = new Map<string, CelValue>();
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const item = member(value, key);
    const name = escapeName(key);
    if (item === undefined || name === undefined) continue;
    if (item === null && property.nullable !== true) continue;
    if (typeOf(property, '') !== undefined) fields.set(name, child(item, property));
  }
  return new CelObject('object', fields);
}

function toText(value: Json, format: string | undefined): CelValue {
  if (typeof value !== 'string') throw new CelError(`invalid data, expected string`);
  switch (format) {
    case 'byte':
      return Uint8Array.from(Buffer.from(value, 'base64'));
    case 'duration':
      return fit(parseDuration(value), value, 'duration');
    case 'date':
      return fit(parseDate(value), value, 'date formatted');
    case 'date-time':
      return fit(parseTimestamp(value), value, 'date-time formatted');
    default:
      return value;
  }
}

function fit(found: CelValue | undefined, value: string, what: string): CelValue {
  if (found === undefined) throw new CelError(`invalid ${what} string ${value}`);
  return found;
}
