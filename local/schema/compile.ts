import { addAll } from '../add-all.ts';
import { compileRules, type RuleTree, validateRules } from './cel-rules.ts';
import type { CRDVersion, CustomResourceDefinition, JSONSchemaProps } from './crd-types.ts';
import { coerceEmbedded, validateEmbedded } from './embedded.ts';
import { errorText, type FieldError, fieldErrors } from './field-error.ts';
import { isObject, type Json, type JsonObject, member } from './json.ts';
import { validateListTypes } from './list-type.ts';
import {
  decodeObjectMeta,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateWrittenMeta,
} from './object-meta.ts';
import { applyDefaults, dropNulls, pruneObject } from './prune.ts';
import { validateValue } from './validate-value.ts';

/**
 * What one served version of a CRD does to the objects of its kind. The order on a write is the server's:
 * `prune` (decode), `default`, then `validate` on the whole object, the old one beside it on an update.
 */
export interface CompiledSchema {
  version: string;
  kind: string;
  schema: JSONSchemaProps;
  hasStatus: boolean;
  /**
   * Decodes: drops what the schema does not name, reads metadata strictly. Changes the object and returns it.
   * Throws DecodeError where metadata has a value of the wrong type (the server answers 400).
   */
  prune(object: JsonObject): { pruned: JsonObject; unknownFields: string[] };
  /** Removes nulls that the schema does not allow: the decoder takes them for what was not sent. */
  dropNulls(object: JsonObject): void;
  /** Fills in defaults. Changes the object and returns it. */
  default(object: JsonObject): JsonObject;
  /**
   * All refusals of a create (`old` absent) or an update. `warn` hears of rules that fail on what the update left
   * unchanged: the server answers those with a Warning header.
   */
  validate(object: JsonObject, old?: JsonObject, warn?: (text: string) => void): FieldError[];
  /** All refusals of an update of the status subresource. */
  validateStatus(object: JsonObject, old: JsonObject, warn?: (text: string) => void): FieldError[];
}

/** Compiles every version of a CRD, served or not. The CRD must have passed `validateCRD`. */
export function compileSchemas(crd: CustomResourceDefinition): Map<string, CompiledSchema> {
  return new Map(crd.spec.versions.map((version) => [version.name, compileVersion(crd, version)]));
}

function compileVersion(crd: CustomResourceDefinition, version: CRDVersion): CompiledSchema {
  const schema = version.schema?.openAPIV3Schema ?? {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
  };
  const namespaced = crd.spec.scope === 'Namespaced';
  const preserve = crd.spec.preserveUnknownFields === true;
  // Compiled at the first validation: most of a schema's life is spent serving reads.
  let rules: RuleTree | undefined;
  let compiled = false;
  const ruleTree = (): RuleTree | undefined => {
    if (!compiled) {
      rules = compileRules(schema);
      compiled = true;
    }
    return rules;
  };
  const finish = (
    errors: FieldError[],
    object: JsonObject,
    old: JsonObject | undefined,
    warn: ((text: string) => void) | undefined,
  ): FieldError[] => {
    const before = old === undefined ? [] : validateListTypes(old, schema);
    if (before.length === 0) addAll(errors, validateListTypes(object, schema));
    const tree = ruleTree();
    if (tree === undefined) return errors;
    if (errors.some((error) => BLOCKING.has(error.type))) {
      errors.push({ type: 'Invalid', field: '<nil>', badValue: null, detail: NOT_CHECKED });
      return errors;
    }
    const found = validateRules(tree, object, old);
    for (const error of found.ratcheted) warn?.(errorText(error));
    addAll(errors, found.errors);
    return errors;
  };
  return {
    version: version.name,
    kind: crd.spec.names.kind,
    schema,
    hasStatus: version.subresources?.status !== undefined,
    prune(object) {
      const unknownFields: string[] = [];
      const metadata = member(object, 'metadata');
      if (metadata !== undefined) {
        const decoded = decodeObjectMeta(metadata);
        object['metadata'] = decoded.meta;
        addAll(unknownFields, decoded.unknownFields);
      }
      if (!preserve) addAll(unknownFields, pruneObject(object, schema));
      addAll(unknownFields, coerceEmbedded(object, schema));
      return { pruned: object, unknownFields };
    },
    dropNulls(object) {
      dropNulls(object, schema);
    },
    default(object) {
      applyDefaults(object, schema);
      return object;
    },
    validate(object, old, warn) {
      const metadata = member(object, 'metadata');
      const meta = isObject(metadata) ? metadata : {};
      const oldMeta = old === undefined ? undefined : member(old, 'metadata');
      const errors = isObject(oldMeta)
        ? [...validateWrittenMeta(meta), ...validateObjectMetaUpdate(meta, oldMeta)]
        : validateObjectMeta(meta, { namespaced });
      addAll(errors, validateValue(object, schema, old === undefined ? {} : { old: { value: old } }));
      addAll(errors, validateScale(object, version));
      addAll(errors, validateEmbedded(object, { ...schema, 'x-kubernetes-embedded-resource': false }));
      return finish(errors, object, old, warn);
    },
    validateStatus(object, old, warn) {
      const metadata = member(object, 'metadata');
      const oldMeta = member(old, 'metadata');
      const errors =
        isObject(metadata) && isObject(oldMeta) ? validateObjectMetaUpdate(metadata, oldMeta) : [];
      const status = member(object, 'status');
      const statusSchema = schema.properties?.['status'];
      if (status !== undefined && statusSchema !== undefined) {
        const before = member(old, 'status');
        errors.push(
          ...validateValue(status, statusSchema, {
            prefix: 'status',
            ...(before === undefined ? {} : { old: { value: before } }),
          }),
        );
      }
      return finish(errors, object, old, warn);
    },
  };
}

const BLOCKING = new Set(['NotSupported', 'Required', 'TooLong', 'TooMany', 'TypeInvalid']);
const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

function validateScale(object: JsonObject, version: CRDVersion): FieldError[] {
  const scale = version.subresources?.scale;
  if (scale === undefined) return [];
  return [scale.specReplicasPath, scale.statusReplicasPath].flatMap((path) => {
    const value = path
      .replace(/^\./, '')
      .split('.')
      .reduce<Json | undefined>((at, key) => (isObject(at) ? member(at, key) : undefined), object);
    if (typeof value !== 'number') return [];
    if (value < 0) return [fieldErrors.invalid(path, value, 'should be a non-negative integer')];
    if (value > 2147483647)
      return [fieldErrors.invalid(path, value, 'should be less than or equal to 2147483647')];
    return [];
  });
}

/** The text of a refused strict decode; `duplicates` are full texts such as `duplicate field "spec.a"`. */
export function strictDecodingMessage(unknownFields: string[], duplicates: string[] = []): string {
  const parts = [...duplicates, ...unknownFields.map((path) => `unknown field "${path}"`)];
  return `strict decoding error: ${parts.join(', ')}`;
}
