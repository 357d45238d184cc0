import { addAll } from '../add-all.ts';
import { compileRules, validateRules } from './cel-rules.ts';
import type { JSONSchemaProps } from './crd-types.ts';
import { validateEmbedded } from './embedded.ts';
import { childPath, type FieldError, fieldErrors, keyPath } from './field-error.ts';
import { deepCopy, deepEqual, isObject, type Json } from './json.ts';
import { pruneObject } from './prune.ts';
import { validateValue } from './validate-value.ts';

const META_FIELDS = new Set(['metadata', 'kind', 'apiVersion']);

/** Defaults must themselves be valid, and name nothing that pruning would drop. */
export function validateDefaults(schema: JSONSchemaProps, path: string, isRoot: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.default !== undefined && schema.default !== null)
    addAll(errors, validateDefault(schema.default, schema, childPath(path, 'default'), isRoot));
  if (schema.items !== undefined)
    addAll(errors, validateDefaults(schema.items, childPath(path, 'items'), false));
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (isRoot && META_FIELDS.has(key)) continue; // forbidden altogether: said elsewhere
    addAll(errors, validateDefaults(property, keyPath(childPath(path, 'properties'), key), false));
  }
  return errors;
}

function validateDefault(value: Json, schema: JSONSchemaProps, path: string, isRoot: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (isObject(value)) {
    const wrapped = deepCopy({ value });
    pruneObject(wrapped, { type: 'object', properties: { value: schema } });
    if (!deepEqual(wrapped.value, value))
      errors.push(fieldErrors.invalid(path, value, 'must not have unknown fields'));
    const resource = isRoot || schema['x-kubernetes-embedded-resource'] === true;
    addAll(errors, validateEmbedded(value, { ...schema, 'x-kubernetes-embedded-resource': resource }, path));
  }
  const wrong = validateValue(value, schema, { prefix: path });
  addAll(errors, wrong);
  if (wrong.length > 0) return errors;
  const tree = compileRules(schema, false);
  if (tree === undefined) return errors;
  return [...errors, ...validateRules(tree, value, undefined, path).errors];
}
