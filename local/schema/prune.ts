import type { JSONSchemaProps } from './crd-types.ts';
import { deepCopy, isObject, type Json, type JsonObject } from './json.ts';

const META_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

interface Options {
  unknownFields: string[];
}

/**
 * Drops the members that the schema does not name, as apiextensions' pruning does. apiVersion, kind and metadata of
 * the root and of embedded resources stay. Changes `object`; the paths of what was dropped come back sorted.
 */
export function pruneObject(object: JsonObject, schema: JSONSchemaProps | undefined): string[] {
  const options: Options = { unknownFields: [] };
  prune(object, { ...schema, 'x-kubernetes-embedded-resource': true }, options, '');
  return options.unknownFields.sort();
}

function properties(schema: JSONSchemaProps, key: string): JSONSchemaProps | undefined {
  const props = schema.properties;
  return props !== undefined && Object.hasOwn(props, key) ? props[key] : undefined;
}

function additional(schema: JSONSchemaProps): { schema: JSONSchemaProps | undefined } | undefined {
  const value = schema.additionalProperties;
  if (value === undefined || value === false) return undefined;
  return { schema: value === true ? undefined : value };
}

const child = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

function prune(value: Json, schema: JSONSchemaProps | undefined, options: Options, path: string): void {
  if (schema?.['x-kubernetes-preserve-unknown-fields'] === true) {
    skipPrune(value, schema, options, path);
    return;
  }
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) prune(item, schema?.items, options, `${path}[${i}]`);
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) pruneMember(value, key, schema, options, path);
  }
}

function pruneMember(
  value: JsonObject,
  key: string,
  schema: JSONSchemaProps | undefined,
  options: Options,
  path: string,
): void {
  if (schema === undefined) {
    options.unknownFields.push(child(path, key));
    delete value[key];
    return;
  }
  if (schema['x-kubernetes-embedded-resource'] === true && META_FIELDS.has(key)) return;
  const property = properties(schema, key);
  const more = additional(schema);
  if (property !== undefined) prune(value[key] ?? null, property, options, child(path, key));
  else if (more !== undefined) prune(value[key] ?? null, more.schema, options, child(path, key));
  else {
    if (!META_FIELDS.has(key) || path !== '') options.unknownFields.push(child(path, key));
    delete value[key];
  }
}

function skipPrune(value: Json, schema: JSONSchemaProps | undefined, options: Options, path: string): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) skipPrune(item, schema.items, options, `${path}[${i}]`);
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      if (schema['x-kubernetes-embedded-resource'] === true && META_FIELDS.has(key)) continue;
      const property = properties(schema, key);
      const more = additional(schema);
      if (property !== undefined) prune(value[key] ?? null, property, options, child(path, key));
      else if (more !== undefined) prune(value[key] ?? null, more.schema, options, child(path, key));
    }
  }
}

/** Removes nulls of members that are not nullable and have no default: for the server they were never sent. */
export function dropNulls(value: Json, schema: JSONSchemaProps | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, schema.items);
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      const property = properties(schema, key) ?? additional(schema)?.schema;
      if (item !== null) {
        dropNulls(item, property);
      } else if (property !== undefined && property.nullable !== true && property.default === undefined) {
        delete value[key];
      }
    }
  }
}

/** Fills in the schema's defaults, parents before children. Changes `value`. */
export function applyDefaults(value: Json, schema: JSONSchemaProps | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      value[i] = defaultOfNull(value[i] ?? null, schema.items);
      applyDefaults(value[i] ?? null, schema.items);
    }
  } else if (isObject(value)) {
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      if (property.default === undefined || property.default === null) continue;
      const present = Object.hasOwn(value, key);
      if (!present || (value[key] === null && property.nullable !== true))
        value[key] = deepCopy(property.default);
    }
    const more = additional(schema)?.schema;
    for (const key of Object.keys(value)) {
      const property = properties(schema, key);
      if (property === undefined && more !== undefined) value[key] = defaultOfNull(value[key] ?? null, more);
      applyDefaults(value[key] ?? null, property ?? more);
    }
  }
}

function defaultOfNull(value: Json, schema: JSONSchemaProps | undefined): Json {
  if (value !== null || schema === undefined || schema.nullable === true) return value;
  return schema.default === undefined ? null : deepCopy(schema.default);
}
