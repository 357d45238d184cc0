import { addAll } from '../add-all.ts';
import { compileRule } from './cel-rules.ts';
import { validFieldPath } from './cel-field-path.ts';
import { declaredType } from './cel-schema.ts';
import type { JSONSchemaProps, ValidationRule } from './crd-types.ts';
import { childPath, type FieldError, fieldErrors, indexPath, keyPath } from './field-error.ts';
import { showRule, showSchema } from './show-schema.ts';
import { validateStructural } from './structural.ts';
import { validateDefaults } from './validate-defaults.ts';
import { listAndMap } from './validate-list-types.ts';

const META_FIELDS = new Set(['metadata', 'kind', 'apiVersion']);
const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];
const ROOT_FIELDS =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';
const NOT_AT_ROOT = [
  'enum',
  'default',
  'nullable',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'additionalProperties',
  'maxProperties',
  'minProperties',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const;

interface Context {
  /** Why no default may stand here. */
  noDefaults?: string;
  insideMeta: boolean;
  /** The first place above whose items have no identity: oldSelf means nothing below it. */
  uncorrelatable?: string;
  rules: boolean;
  celErrors: FieldError[];
}

/** Everything that may be wrong with `openAPIV3Schema` of one version, worded as a kube-apiserver words it. */
export function validateOpenAPISchema(
  schema: JSONSchemaProps,
  hasStatus: boolean,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (hasStatus) addAll(errors, rootFields(schema, path));
  if (schema.nullable === true)
    errors.push(fieldErrors.forbidden(childPath(path, 'nullable'), 'nullable cannot be true at the root'));
  const structural = validateStructural(schema, path);
  addAll(errors, structural);
  if (structural.length === 0) {
    const defaults = validateDefaults(schema, path, true);
    addAll(errors, defaults);
    addAll(errors, walk(schema, path, defaults.length === 0));
  } else addAll(errors, walk(schema, path, false));
  return errors;
}

function walk(schema: JSONSchemaProps, path: string, rules: boolean): FieldError[] {
  const context: Context = { insideMeta: false, rules, celErrors: [] };
  const found = check(schema, path, true, context);
  return [...found, ...context.celErrors];
}

function rootFields(schema: JSONSchemaProps, path: string): FieldError[] {
  if ((schema.type ?? '') !== '' && schema.type !== 'object')
    return [
      fieldErrors.invalid(
        childPath(path, 'type'),
        schema.type,
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      ),
    ];
  if (!NOT_AT_ROOT.some((key) => schema[key] !== undefined && schema[key] !== false)) return [];
  return [
    {
      ...fieldErrors.invalid(
        path,
        '',
        `only [${ROOT_FIELDS}] fields are allowed at the root of the schema if the status subresource is enabled`,
      ),
      shown: showSchema(schema),
    },
  ];
}

function check(schema: JSONSchemaProps, path: string, isRoot: boolean, context: Context): FieldError[] {
  const at = (name: string): string => childPath(path, name);
  const errors = standard(schema, path, context);
  if (schema.uniqueItems === true)
    errors.push(
      fieldErrors.forbidden(
        at('uniqueItems'),
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  const more = schema.additionalProperties;
  if (more !== undefined) {
    if (Object.keys(schema.properties ?? {}).length > 0 && more !== true)
      errors.push(
        fieldErrors.forbidden(
          at('additionalProperties'),
          'additionalProperties and properties are mutual exclusive',
        ),
      );
    if (typeof more === 'object') addAll(errors, check(more, at('additionalProperties'), false, context));
  }
  for (const [key, property] of Object.entries(schema.properties ?? {}))
    errors.push(
      ...check(property, keyPath(at('properties'), key), false, below(schema, key, path, isRoot, context)),
    );
  const plain: Context = { ...context, rules: false };
  if (schema.not !== undefined) addAll(errors, check(schema.not, at('not'), false, plain));
  for (const key of ['allOf', 'oneOf', 'anyOf'] as const)
    for (const [i, sub] of (schema[key] ?? []).entries())
      addAll(errors, check(sub, indexPath(at(key), i), false, plain));
  if (schema.items !== undefined) {
    const inner = schema['x-kubernetes-list-type'] === 'map' ? context : { uncorrelatable: path, ...context };
    addAll(errors, check(schema.items, at('items'), false, inner));
  }
  addAll(errors, listAndMap(schema, path));
  addAll(errors, rules(schema, path, isRoot, errors.length === 0, context));
  return errors;
}

function below(
  schema: JSONSchemaProps,
  key: string,
  path: string,
  isRoot: boolean,
  context: Context,
): Context {
  let inner = context;
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType !== undefined && mapType !== 'granular' && mapType !== 'atomic')
    inner = { uncorrelatable: path, ...inner };
  if ((isRoot || schema['x-kubernetes-embedded-resource'] === true) && META_FIELDS.has(key)) {
    inner = { ...inner, insideMeta: true };
    if (isRoot) inner = { ...inner, noDefaults: `in top-level ${key}` };
  }
  return inner;
}

function standard(schema: JSONSchemaProps, path: string, context: Context): FieldError[] {
  const at = (name: string): string => childPath(path, name);
  const errors: FieldError[] = [];
  if ((schema.type ?? '') !== '' && !TYPES.includes(schema.type ?? ''))
    errors.push(fieldErrors.notSupported(at('type'), schema.type, TYPES));
  if (schema.default !== undefined && context.noDefaults !== undefined)
    errors.push(fieldErrors.forbidden(at('default'), `must not be set ${context.noDefaults}`));
  for (const key of UNSUPPORTED)
    if (Object.hasOwn(schema, key)) errors.push(fieldErrors.forbidden(at(key), `${key} is not supported`));
  if (schema.type === 'null')
    errors.push(
      fieldErrors.forbidden(at('type'), 'type cannot be set to null, use nullable as an alternative'),
    );
  if (Array.isArray(schema.items))
    errors.push(fieldErrors.forbidden(at('items'), 'items must be a schema object and not an array'));
  if (context.insideMeta && schema['x-kubernetes-embedded-resource'] === true)
    errors.push(
      fieldErrors.forbidden(at('x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'),
    );
  return errors;
}

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const hasNewline = (text: string): boolean => /[\n\r]/.test(text);

/** The rules themselves; expressions are compiled only where the schema is sound (`clean`). */
function rules(
  schema: JSONSchemaProps,
  path: string,
  isRoot: boolean,
  clean: boolean,
  context: Context,
): FieldError[] {
  const list = schema['x-kubernetes-validations'] ?? [];
  if (list.length === 0) return [];
  const at = childPath(path, 'x-kubernetes-validations');
  const errors = list.flatMap((rule, i) => ruleFields(rule, schema, indexPath(at, i)));
  if (!clean || errors.length > 0 || !context.rules) return errors;
  const self = declaredType(schema, isRoot || schema['x-kubernetes-embedded-resource'] === true, 'selfType');
  for (const [i, rule] of list.entries()) {
    const compiled = compileRule(rule, schema, self);
    const where = indexPath(at, i);
    const shown = showRule(rule);
    if (compiled.error !== undefined)
      context.celErrors.push({ ...fieldErrors.invalid(childPath(where, 'rule'), '', compiled.error), shown });
    if (compiled.messageError !== undefined)
      context.celErrors.push({
        ...fieldErrors.invalid(childPath(where, 'messageExpression'), '', compiled.messageError),
        shown,
      });
    if (compiled.usesOldSelf) {
      if (context.uncorrelatable !== undefined)
        context.celErrors.push(
          fieldErrors.invalid(
            childPath(where, 'rule'),
            rule.rule,
            `oldSelf cannot be used on the uncorrelatable portion of the schema within ${context.uncorrelatable}`,
          ),
        );
    } else if (rule.optionalOldSelf !== undefined && compiled.error === undefined)
      context.celErrors.push(
        fieldErrors.invalid(
          childPath(where, 'optionalOldSelf'),
          rule.optionalOldSelf,
          'may not be set if oldSelf is not used in rule',
        ),
      );
  }
  return errors;
}

function ruleFields(rule: ValidationRule, schema: JSONSchemaProps, path: string): FieldError[] {
  const at = (name: string): string => childPath(path, name);
  const errors: FieldError[] = [];
  const message = rule.message ?? '';
  const text = rule.rule.trim();
  if (text === '') errors.push(fieldErrors.required(at('rule'), 'rule is not specified'));
  else if (message !== '' && message.trim() === '')
    errors.push(fieldErrors.invalid(at('message'), message, 'must be non-empty if specified'));
  else if (hasNewline(message.trim()))
    errors.push(fieldErrors.invalid(at('message'), message, 'must not contain line breaks'));
  else if (hasNewline(text) && message.trim() === '')
    errors.push(
      fieldErrors.required(at('message'), 'message must be specified if rule contains line breaks'),
    );
  const expression = rule.messageExpression ?? '';
  if (expression !== '' && expression.trim() === '')
    errors.push(
      fieldErrors.required(at('messageExpression'), 'messageExpression must be non-empty if specified'),
    );
  if (rule.reason !== undefined && !REASONS.includes(rule.reason))
    errors.push(fieldErrors.notSupported(at('reason'), rule.reason, REASONS));
  const fieldPath = rule.fieldPath ?? '';
  if (fieldPath === '') return errors;
  if (fieldPath.trim() === '')
    errors.push(fieldErrors.invalid(at('fieldPath'), fieldPath, 'must be non-empty if specified'));
  if (hasNewline(fieldPath))
    errors.push(fieldErrors.invalid(at('fieldPath'), fieldPath, 'must not contain line breaks'));
  if ('error' in validFieldPath(fieldPath, schema))
    errors.push(fieldErrors.invalid(at('fieldPath'), fieldPath, 'must be a valid path'));
  return errors;
}
