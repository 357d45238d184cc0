import { addAll } from '../add-all.ts';
import type { JSONSchemaProps } from './crd-types.ts';
import { childPath, type FieldError, fieldErrors, keyPath } from './field-error.ts';

/** What x-kubernetes-list-type and x-kubernetes-map-type ask of the schema around them. */
export function listAndMap(schema: JSONSchemaProps, path: string): FieldError[] {
  const at = (name: string): string => childPath(path, name);
  const errors: FieldError[] = [];
  const wrongType = (detail: string): void => {
    const type = schema.type ?? '';
    errors.push(
      type === '' ? fieldErrors.required(at('type'), detail) : fieldErrors.invalid(at('type'), type, detail),
    );
  };
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    errors.push(
      fieldErrors.invalid(at('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'),
    );
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType !== undefined) {
    if (schema.type !== 'object') wrongType('must be object if x-kubernetes-map-type is specified');
    if (mapType !== 'atomic' && mapType !== 'granular')
      errors.push(fieldErrors.notSupported(at('x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
  }
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== undefined) {
    if (schema.type !== 'array') wrongType('must be array if x-kubernetes-list-type is specified');
    else if (listType === 'set') addAll(errors, atomicItems(schema, path));
    if (!['atomic', 'set', 'map'].includes(listType))
      errors.push(fieldErrors.notSupported(at('x-kubernetes-list-type'), listType, ['atomic', 'set', 'map']));
  }
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    errors.push(
      listType === undefined
        ? fieldErrors.required(at('x-kubernetes-list-type'), detail)
        : fieldErrors.invalid(at('x-kubernetes-list-type'), listType, detail),
    );
  }
  if (listType === 'map') addAll(errors, mapKeys(schema, keys, path));
  if (listType === 'map' || listType === 'set') addAll(errors, mapItems(schema, listType, keys, path));
  return errors;
}

function atomicItems(schema: JSONSchemaProps, path: string): FieldError[] {
  const { items } = schema;
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const at = childPath(childPath(path, 'items'), '');
  if (items?.type === 'array') {
    const type = items['x-kubernetes-list-type'];
    if (type !== undefined && type !== 'atomic')
      return [fieldErrors.invalid(`${at}x-kubernetes-list-type`, type, detail)];
  }
  if (items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic')
    return [
      fieldErrors.invalid(`${at}x-kubernetes-map-type`, items['x-kubernetes-list-type'] ?? null, detail),
    ];
  return [];
}

function mapKeys(schema: JSONSchemaProps, keys: string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = childPath(path, 'x-kubernetes-list-map-keys');
  const items = childPath(path, 'items');
  if (keys.length === 0)
    errors.push(fieldErrors.required(at, 'must not be empty if x-kubernetes-list-type is map'));
  if (schema.items === undefined) {
    errors.push(fieldErrors.required(items, 'must have a schema if x-kubernetes-list-type is map'));
    return errors;
  }
  if (schema.items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(fieldErrors.invalid(childPath(items, 'type'), schema.items.type ?? '', detail));
    return errors;
  }
  const seen = new Set<string>();
  for (const key of keys) {
    const property = schema.items.properties?.[key];
    if (property === undefined)
      errors.push(fieldErrors.invalid(at, keys, 'entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object')
      errors.push(
        fieldErrors.invalid(
          childPath(keyPath(childPath(items, 'properties'), key), 'type'),
          schema.items.type,
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      );
    if (seen.has(key)) errors.push(fieldErrors.invalid(at, keys, 'must not contain duplicate entries'));
    seen.add(key);
  }
  return errors;
}

function mapItems(schema: JSONSchemaProps, listType: string, keys: string[], path: string): FieldError[] {
  const { items } = schema;
  if (items === undefined) return [];
  const at = childPath(path, 'items');
  const errors: FieldError[] = [];
  if (items.nullable === true)
    errors.push(
      fieldErrors.forbidden(
        childPath(at, 'nullable'),
        `cannot be nullable when x-kubernetes-list-type is ${listType}`,
      ),
    );
  if (listType !== 'map') return errors;
  for (const key of keys) {
    const property = items.properties?.[key];
    if (property === undefined) continue;
    const where = keyPath(childPath(at, 'properties'), key);
    if (!(items.required ?? []).includes(key) && property.default === undefined)
      errors.push(
        fieldErrors.required(
          childPath(where, 'default'),
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        ),
      );
    if (property.nullable === true)
      errors.push(
        fieldErrors.forbidden(
          childPath(where, 'nullable'),
          'this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
        ),
      );
  }
  return errors;
}
