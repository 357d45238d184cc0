import { addAll } from '../add-all.ts';
import type { JSONSchemaProps } from './crd-types.ts';
import { childPath, type FieldError, fieldErrors, indexPath, keyPath } from './field-error.ts';
import { isObject, type Json, type JsonObject, member } from './json.ts';
import { isDNS1035Label, isPathSegmentName } from './names.ts';
import { decodeObjectMeta, validateObjectMeta } from './object-meta.ts';

type Visit = (value: JsonObject, schema: JSONSchemaProps, path: string) => void;

/** Visits every object below an x-kubernetes-embedded-resource schema. */
function visit(value: Json, schema: JSONSchemaProps | undefined, path: string, fn: Visit): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) visit(item, schema.items, indexPath(path, i), fn);
  } else if (isObject(value)) {
    if (schema['x-kubernetes-embedded-resource'] === true) fn(value, schema, path);
    const more = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
    for (const [key, item] of Object.entries(value)) {
      const property =
        schema.properties !== undefined && Object.hasOwn(schema.properties, key)
          ? schema.properties[key]
          : undefined;
      if (property !== undefined) visit(item, property, childPath(path, key), fn);
      else if (more !== undefined) visit(item, more, keyPath(path, key), fn);
    }
  }
}

/** Reads the metadata of embedded resources as the decoder does; returns the unknown fields that it dropped. */
export function coerceEmbedded(object: JsonObject, schema: JSONSchemaProps): string[] {
  const unknown: string[] = [];
  visit(object, { ...schema, 'x-kubernetes-embedded-resource': false }, '', (value, _schema, path) => {
    const metadata = member(value, 'metadata');
    if (metadata === undefined) return;
    const decoded = decodeObjectMeta(metadata, childPath(path, 'metadata'));
    addAll(unknown, decoded.unknownFields);
    value['metadata'] = decoded.meta;
  });
  return unknown.sort();
}

/** Type and metadata of embedded resources. */
export function validateEmbedded(object: JsonObject, schema: JSONSchemaProps, at = ''): FieldError[] {
  const errors: FieldError[] = [];
  visit(object, schema, at, (value, _schema, path) => {
    addAll(errors, validateOne(value, path));
  });
  return errors;
}

function validateOne(value: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of ['apiVersion', 'kind']) {
    const at = childPath(path, key);
    const found = member(value, key);
    if (found === undefined) errors.push(fieldErrors.required(at));
    else if (typeof found !== 'string') errors.push(fieldErrors.invalid(at, found, 'must be a string'));
    else if (found === '') errors.push(fieldErrors.invalid(at, found, 'must not be empty'));
    else if (key === 'apiVersion' && found.split('/').length > 2)
      errors.push(fieldErrors.invalid(at, found, `unexpected GroupVersion string: ${found}`));
    else if (key === 'kind') {
      const wrong = isDNS1035Label(found.toLowerCase());
      if (wrong.length > 0)
        errors.push(
          fieldErrors.invalid(
            at,
            found,
            `may have mixed case, but should otherwise match: ${wrong.join(',')}`,
          ),
        );
    }
  }
  const metadata = member(value, 'metadata');
  if (isObject(metadata)) {
    const meta = { ...metadata, name: member(metadata, 'name') ?? 'fakename' };
    const namespaced = typeof metadata['namespace'] === 'string' && metadata['namespace'] !== '';
    errors.push(
      ...validateObjectMeta(meta, { namespaced, name: isPathSegmentName }, childPath(path, 'metadata')),
    );
  }
  return errors;
}
