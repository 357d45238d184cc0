import { addAll } from '../add-all.ts';
import { goJSON, goQuote, isObject, type Json } from '../schema/json.ts';
import {
  elementOf,
  type FieldType,
  type ListType,
  type MapType,
  memberType,
  partFor,
  partOf,
  type ScalarType,
} from './field-type.ts';
import { field, showElement } from './path-element.ts';

/** What keeps a value from being of a type, as the API server words it; empty: it fits. */
export function typeErrors(value: Json, type: FieldType): string[] {
  switch (partOf(type, partFor(type, value))) {
    case 'map':
      return type.map === undefined ? [] : mapErrors(value, type.map);
    case 'list':
      return type.list === undefined ? [] : listErrors(value, type.list);
    default:
      return type.scalar === undefined ? [] : scalarErrors(value, type.scalar);
  }
}

const below = (element: string, errors: string[]): string[] =>
  errors.map((error) => `${showElement(element)}${/^[.[]/.test(error) ? '' : ': '}${error}`);

function mapErrors(value: Json, map: MapType): string[] {
  if (value === null) return [];
  if (!isObject(value)) return [`expected map, got ${shown(value)}`];
  const errors: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const type = memberType(map, name);
    errors.push(
      ...below(field(name), type === undefined ? ['field not declared in schema'] : typeErrors(member, type)),
    );
  }
  return errors;
}

function listErrors(value: Json, list: ListType): string[] {
  if (value === null) return [];
  if (!Array.isArray(value)) return [`expected list, got ${shown(value)}`];
  const errors: string[] = [];
  const seen = new Set<string>();
  for (const [i, child] of value.entries()) {
    let element = `i:${i}`;
    if (list.associative) {
      const found = elementOf(list, child);
      if ('error' in found) return [...errors, `element ${i}: ${found.error}`];
      element = found.element;
      if (seen.has(element)) errors.push(`duplicate entries for key ${showElement(element)}`);
      seen.add(element);
    }
    addAll(errors, below(element, typeErrors(child, list.items)));
  }
  return errors;
}

function scalarErrors(value: Json, type: ScalarType): string[] {
  if (value === null) return [];
  switch (type) {
    case 'numeric':
      return typeof value === 'number' ? [] : [`expected numeric (int or float), got ${goType(value)}`];
    case 'string':
      return typeof value === 'string'
        ? []
        : [`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`];
    case 'boolean':
      return typeof value === 'boolean' ? [] : [`expected boolean, got ${shown(value)}`];
    default:
      return typeof value === 'object' ? [`expected any scalar, got ${shown(value)}`] : [];
  }
}

const shown = (value: Json): string => `&{${goValue(value)}}`;

function goType(value: Json): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isObject(value)) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function goSyntax(value: Json): string {
  if (typeof value === 'string') return goQuote(value);
  return isObject(value) || Array.isArray(value) ? goType(value) : JSON.stringify(value);
}

function goValue(value: Json): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`;
  if (isObject(value)) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `map[${entries.map(([key, member]) => `${key}:${goValue(member)}`).join(' ')}]`;
  }
  return goJSON(value);
}
