import type { JSONSchemaProps, ValidationRule } from './crd-types.ts';
import { goStruct, type Json } from './json.ts';

/** Messages quote schemas and rules as the server's own types are written: Go's field names, in their order. */

export function showRule(rule: ValidationRule): string {
  return goStruct(ruleStruct(rule));
}

export function showSchema(schema: JSONSchemaProps): string {
  return goStruct(schemaStruct(schema));
}

function ruleStruct(rule: ValidationRule): object {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}

/** Go's name, the JSON name, and what stands for a member that is not there. */
const SCALARS: [string, keyof JSONSchemaProps | '', Json][] = [
  ['ID', '', ''],
  ['Schema', '', ''],
  ['Ref', '', null],
  ['Description', 'description', ''],
  ['Type', 'type', ''],
  ['Nullable', 'nullable', false],
  ['Format', 'format', ''],
  ['Title', 'title', ''],
  ['Default', 'default', null],
  ['Maximum', 'maximum', null],
  ['ExclusiveMaximum', 'exclusiveMaximum', false],
  ['Minimum', 'minimum', null],
  ['ExclusiveMinimum', 'exclusiveMinimum', false],
  ['MaxLength', 'maxLength', null],
  ['MinLength', 'minLength', null],
  ['Pattern', 'pattern', ''],
  ['MaxItems', 'maxItems', null],
  ['MinItems', 'minItems', null],
  ['UniqueItems', 'uniqueItems', false],
  ['MultipleOf', 'multipleOf', null],
  ['Enum', 'enum', null],
  ['MaxProperties', 'maxProperties', null],
  ['MinProperties', 'minProperties', null],
  ['Required', 'required', null],
];
const EXTENSIONS: [string, keyof JSONSchemaProps, Json][] = [
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', null],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', false],
  ['XIntOrString', 'x-kubernetes-int-or-string', false],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', null],
  ['XListType', 'x-kubernetes-list-type', null],
  ['XMapType', 'x-kubernetes-map-type', null],
];

function schemaStruct(schema: JSONSchemaProps): object {
  const plain = (fields: [string, keyof JSONSchemaProps | '', Json][]): [string, unknown][] =>
    fields.map(([name, key, none]) => [name, key === '' ? none : (schema[key] ?? none)]);
  const list = (key: 'allOf' | 'oneOf' | 'anyOf'): object[] | null => schema[key]?.map(schemaStruct) ?? null;
  const more = schema.additionalProperties;
  const rules = schema['x-kubernetes-validations'];
  return Object.fromEntries([
    ...plain(SCALARS),
    ['Items', schema.items === undefined ? null : { Schema: schemaStruct(schema.items), JSONSchemas: null }],
    ['AllOf', list('allOf')],
    ['OneOf', list('oneOf')],
    ['AnyOf', list('anyOf')],
    ['Not', schema.not === undefined ? null : schemaStruct(schema.not)],
    ['Properties', schema.properties === undefined ? null : properties(schema.properties)],
    [
      'AdditionalProperties',
      more === undefined
        ? null
        : { Allows: more !== false, Schema: typeof more === 'object' ? schemaStruct(more) : null },
    ],
    ['PatternProperties', null],
    ['Dependencies', null],
    ['AdditionalItems', null],
    ['Definitions', null],
    ['ExternalDocs', null],
    ['Example', schema.example ?? null],
    ...plain(EXTENSIONS),
    ['XValidations', rules === undefined ? null : rules.map(ruleStruct)],
  ] as [string, unknown][]);
}

/** A map: Go writes its keys sorted. */
function properties(all: Record<string, JSONSchemaProps>): object {
  const sorted = Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, property]) => [key, schemaStruct(property)]));
}
