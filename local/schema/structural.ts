import { addAll } from '../add-all.ts';
import type { JSONSchemaProps } from './crd-types.ts';
import { childPath, errorText, type FieldError, fieldErrors, indexPath, keyPath } from './field-error.ts';
import { deepEqual, type Json } from './json.ts';
import { compileRE2 } from './re2.ts';

type Level = 'root' | 'item' | 'field';

/** Whether a schema is structural: every place of an object has one schema that says its type. Sorted by text. */
export function validateStructural(schema: JSONSchemaProps, path: string): FieldError[] {
  const errors = [...invariants(schema, 'root', path), ...completeness(schema, schema, path, path)];
  return errors
    .map((error) => ({ error, text: errorText(error) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ error }) => error);
}

const INT_OR_STRING: JSONSchemaProps[] = [{ type: 'integer' }, { type: 'string' }];
const isIntOrString = (anyOf: JSONSchemaProps[] | undefined): boolean =>
  anyOf !== undefined && deepEqual(anyOf as unknown as Json, INT_OR_STRING as unknown as Json);

const TYPE_REQUIRED: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

const propertyPath = (path: string, key: string): string => keyPath(childPath(path, 'properties'), key);

function invariants(schema: JSONSchemaProps, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = (name: string): string => childPath(path, name);
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const preserve = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const intOrString = schema['x-kubernetes-int-or-string'] === true;
  const type = schema.type ?? '';
  if (type === 'array' && schema.items === undefined)
    errors.push(fieldErrors.required(at('items'), 'must be specified'));
  if (schema.items !== undefined) addAll(errors, invariants(schema.items, 'item', at('items')));
  for (const [key, property] of Object.entries(schema.properties ?? {}))
    addAll(errors, invariants(property, 'field', propertyPath(path, key)));
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) {
    if (level === 'root')
      errors.push(fieldErrors.forbidden(at('additionalProperties'), 'must not be used at the root'));
    if (typeof schema.additionalProperties === 'object')
      addAll(errors, invariants(schema.additionalProperties, 'field', at('additionalProperties')));
  }
  if (intOrString && preserve)
    errors.push(
      fieldErrors.invalid(
        at('x-kubernetes-preserve-unknown-fields'),
        true,
        'must be false if x-kubernetes-int-or-string is true',
      ),
    );
  if (intOrString && embedded)
    errors.push(
      fieldErrors.invalid(
        at('x-kubernetes-embedded-resource'),
        true,
        'must be false if x-kubernetes-int-or-string is true',
      ),
    );
  errors.push(
    ...valueValidation(schema, path, isIntOrString(schema.anyOf), isIntOrString(schema.allOf?.[0]?.anyOf)),
  );
  if (embedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(
      type === '' ? fieldErrors.required(at('type'), detail) : fieldErrors.invalid(at('type'), type, detail),
    );
  } else if (type === '' && !intOrString && !preserve) {
    errors.push(fieldErrors.required(at('type'), TYPE_REQUIRED[level]));
  }
  if (embedded && schema.additionalProperties !== undefined)
    errors.push(
      fieldErrors.forbidden(
        at('additionalProperties'),
        'must not be used if x-kubernetes-embedded-resource is set',
      ),
    );
  if (level === 'root' && type !== '' && type !== 'object')
    errors.push(fieldErrors.invalid(at('type'), type, 'must be object at the root'));
  if (level === 'root' || embedded) addAll(errors, typeMeta(schema, path));
  addAll(errors, metadata(schema, level, embedded, path));
  if (embedded && !preserve && Object.keys(schema.properties ?? {}).length === 0)
    errors.push(
      fieldErrors.required(
        at('properties'),
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    );
  return errors;
}

function typeMeta(schema: JSONSchemaProps, path: string): FieldError[] {
  return ['kind', 'apiVersion'].flatMap((key) => {
    const property = schema.properties?.[key];
    if (property === undefined || property.type === 'string') return [];
    return [
      fieldErrors.invalid(childPath(propertyPath(path, key), 'type'), property.type ?? '', 'must be string'),
    ];
  });
}

function metadata(schema: JSONSchemaProps, level: Level, embedded: boolean, path: string): FieldError[] {
  const found = schema.properties?.['metadata'];
  if (found === undefined) return [];
  const at = propertyPath(path, 'metadata');
  const errors: FieldError[] = [];
  if ((level === 'root' || embedded) && found.type !== 'object')
    errors.push(fieldErrors.invalid(childPath(at, 'type'), found.type ?? '', 'must be object'));
  if (level !== 'root') return errors;
  const { type: _type, default: _default, properties, description: _description, ...rest } = found;
  const names = Object.keys(properties ?? {});
  const onlyNames = names.every((name) => name === 'name' || name === 'generateName');
  if (!onlyNames || Object.keys(rest).length > 0)
    errors.push(
      fieldErrors.forbidden(
        at,
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    );
  return errors;
}

/** `skip` and `skipFirst`: the two forms of int-or-string, whose anyOf may name types. */
function valueValidation(
  schema: JSONSchemaProps,
  path: string,
  skip: boolean,
  skipFirst: boolean,
): FieldError[] {
  const at = (name: string): string => childPath(path, name);
  const errors: FieldError[] = [];
  if (!skip)
    for (const [i, sub] of (schema.anyOf ?? []).entries())
      addAll(errors, nested(sub, indexPath(at('anyOf'), i), false));
  for (const [i, sub] of (schema.allOf ?? []).entries())
    addAll(errors, nested(sub, indexPath(at('allOf'), i), skipFirst && i === 0));
  for (const [i, sub] of (schema.oneOf ?? []).entries())
    addAll(errors, nested(sub, indexPath(at('oneOf'), i), false));
  if (schema.not !== undefined) addAll(errors, nested(schema.not, at('not'), false));
  if (schema.pattern !== undefined && schema.pattern !== '') {
    try {
      compileRE2(schema.pattern);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      errors.push(
        fieldErrors.invalid(
          at('pattern'),
          schema.pattern,
          `must be a valid regular expression, but isn't: ${why}`,
        ),
      );
    }
  }
  return errors;
}

const EMPTY = 'must be empty to be structural';
const UNDEFINED = 'must be undefined to be structural';
const FALSE = 'must be false to be structural';

function nested(schema: JSONSchemaProps, path: string, skipAnyOf: boolean): FieldError[] {
  const errors = valueValidation(schema, path, skipAnyOf, false);
  const forbid = (name: string, detail: string): void => {
    errors.push(fieldErrors.forbidden(childPath(path, name), detail));
  };
  if (schema.items !== undefined) addAll(errors, nested(schema.items, childPath(path, 'items'), false));
  for (const [key, property] of Object.entries(schema.properties ?? {}))
    addAll(errors, nested(property, propertyPath(path, key), false));
  if ((schema.type ?? '') !== '') forbid('type', EMPTY);
  if (schema.additionalProperties !== undefined) forbid('additionalProperties', UNDEFINED);
  if (schema.default !== undefined) forbid('default', UNDEFINED);
  if ((schema.title ?? '') !== '') forbid('title', EMPTY);
  if ((schema.description ?? '') !== '') forbid('description', EMPTY);
  if (schema.nullable === true) forbid('nullable', FALSE);
  for (const key of [
    'x-kubernetes-preserve-unknown-fields',
    'x-kubernetes-embedded-resource',
    'x-kubernetes-int-or-string',
  ] as const)
    if (schema[key] === true) forbid(key, FALSE);
  if ((schema['x-kubernetes-list-map-keys'] ?? []).length > 0) forbid('x-kubernetes-list-map-keys', EMPTY);
  if (schema['x-kubernetes-list-type'] !== undefined) forbid('x-kubernetes-list-type', UNDEFINED);
  if (schema['x-kubernetes-map-type'] !== undefined) forbid('x-kubernetes-map-type', UNDEFINED);
  if ((schema['x-kubernetes-validations'] ?? []).length > 0) forbid('x-kubernetes-validations', EMPTY);
  if (schema.properties?.['metadata'] !== undefined)
    errors.push(
      fieldErrors.forbidden(propertyPath(path, 'metadata'), 'must not be specified in a nested context'),
    );
  return errors;
}

/** What a nested schema speaks of must stand in the schema proper. */
function completeness(
  values: JSONSchemaProps,
  schema: JSONSchemaProps | undefined,
  path: string,
  from: string,
): FieldError[] {
  const branches: [JSONSchemaProps, string][] = [
    ...(values.not === undefined ? [] : [[values.not, childPath(from, 'not')] as [JSONSchemaProps, string]]),
    ...(['allOf', 'anyOf', 'oneOf'] as const).flatMap((key) =>
      (values[key] ?? []).map((sub, i): [JSONSchemaProps, string] => [
        sub,
        indexPath(childPath(from, key), i),
      ]),
    ),
  ];
  return branches.flatMap(([sub, at]) => nestedCompleteness(sub, schema, path, at));
}

function nestedCompleteness(
  values: JSONSchemaProps,
  schema: JSONSchemaProps | undefined,
  path: string,
  from: string,
): FieldError[] {
  if (schema === undefined) return [fieldErrors.required(path, `because it is defined in ${from}`)];
  const errors = completeness(values, schema, path, from);
  if (values.items !== undefined)
    errors.push(
      ...nestedCompleteness(values.items, schema.items, childPath(path, 'items'), childPath(from, 'items')),
    );
  for (const [key, sub] of Object.entries(values.properties ?? {}))
    errors.push(
      ...nestedCompleteness(sub, schema.properties?.[key], propertyPath(path, key), propertyPath(from, key)),
    );
  return errors;
}
