import { isObject, type Json, type JsonObject, setMember } from '../schema/json.ts';
import type { FieldSet } from './field-set.ts';
import { elementOf, type FieldType, memberType, partFor, partOf } from './field-type.ts';
import { field } from './path-element.ts';

/** A value without these fields. Undefined: nothing is left of it. */
export function withoutFields(value: Json, type: FieldType, gone: FieldSet): Json | undefined {
  const part = partOf(type, partFor(type, value));
  if (part === 'scalar') return value;
  if (part === 'list') {
    const list = type.list;
    if (!Array.isArray(value) || list === undefined || !list.associative) return undefined;
    const kept = value.flatMap((item) => {
      const found = elementOf(list, item);
      if ('error' in found) return [item];
      if (gone.own.has(found.element)) return [];
      const rest = below(item, list.items, gone.below.get(found.element));
      return [rest ?? null];
    });
    return kept.length === 0 ? undefined : kept;
  }
  const map = type.map;
  if (!isObject(value) || map === undefined || map.atomic) return undefined;
  const kept: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const element = field(name);
    if (gone.own.has(element)) continue;
    const rest = below(member, memberType(map, name), gone.below.get(element));
    setMember(kept, name, rest ?? null);
  }
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function below(value: Json, type: FieldType | undefined, gone: FieldSet | undefined): Json | undefined {
  if (gone === undefined || gone.empty || type === undefined) return value;
  return withoutFields(value, type, gone);
}
