import { isObject, type Json } from '../schema/json.ts';
import type { FieldType, ListType, MapType, ScalarType } from './field-type.ts';

/** What this reads of an OpenAPI schema: a custom kind's own, or one that is published for a built-in kind. */
export interface TypeSchema {
  $ref?: string;
  allOf?: TypeSchema[];
  type?: string;
  format?: string;
  default?: Json;
  properties?: Record<string, TypeSchema>;
  additionalProperties?: TypeSchema | boolean;
  items?: TypeSchema;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-patch-merge-key'?: string;
}

/** The schema that a `$ref` names. */
export type Resolve = (reference: string) => TypeSchema | undefined;

const ATOM: FieldType = { scalar: 'untyped' };
const ATOMIC_MAP: MapType = {
  atomic: true,
  field: () => undefined,
  others: ATOM,
  defaultOf: () => undefined,
};
ATOM.list = { associative: false, keys: [], items: ATOM };
ATOM.map = ATOMIC_MAP;

/** A value that no schema describes: members are told apart, lists are not. */
export const DEDUCED: FieldType = {
  scalar: 'untyped',
  list: { associative: false, keys: [], items: ATOM },
};
DEDUCED.map = { atomic: false, field: () => undefined, others: DEDUCED, defaultOf: () => undefined };

/** The types of the fields that a schema describes, made as they are asked for: schemas may contain themselves. */
export function typeOfSchema(schema: TypeSchema, resolve: Resolve): FieldType {
  return new Types(resolve).of(schema, false);
}

class Types {
  readonly #resolve: Resolve;
  readonly #named = new Map<string, FieldType>();

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  of(schema: TypeSchema, preserved: boolean): FieldType {
    const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined);
    if (reference === undefined) return this.#inline(schema, preserved);
    const type = this.#byName(reference);
    const relation = schema['x-kubernetes-map-type'];
    if (relation === undefined || type.map === undefined) return type;
    return { ...type, map: { ...type.map, atomic: relation === 'atomic' } };
  }

  #byName(reference: string): FieldType {
    const known = this.#named.get(reference);
    if (known !== undefined) return known;
    const schema = this.#resolve(reference);
    const type = schema === undefined ? DEDUCED : this.#inline(schema, false);
    this.#named.set(reference, type);
    return type;
  }

  #inline(schema: TypeSchema, inherited: boolean): FieldType {
    // Below one that keeps unknown fields, all keep them.
    const preserved = inherited || schema['x-kubernetes-preserve-unknown-fields'] === true;
    switch (schema.type ?? '') {
      case 'object':
        return { map: this.#map(schema, preserved) };
      case 'array':
        return { list: this.#list(schema, preserved) };
      case '':
        return { scalar: 'untyped', list: this.#list(schema, preserved), map: this.#map(schema, preserved) };
      default:
        return { scalar: scalarOf(schema) };
    }
  }

  #map(schema: TypeSchema, preserved: boolean): MapType {
    const properties = { ...schema.properties, ...(embedded(schema) ? EMBEDDED : {}) };
    const fields = new Map<string, FieldType>();
    const more = schema.additionalProperties;
    const free = more === undefined ? preserved || Object.keys(properties).length === 0 : more === true;
    let others: FieldType | undefined;
    const makeOthers = (): FieldType | undefined =>
      free ? DEDUCED : isObject(more) ? this.of(more, preserved) : undefined;
    let made = false;
    return {
      atomic: schema['x-kubernetes-map-type'] === 'atomic',
      field: (name) => {
        const known = fields.get(name);
        if (known !== undefined) return known;
        const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
        if (property === undefined) return undefined;
        const type = this.of(property, preserved);
        fields.set(name, type);
        return type;
      },
      get others() {
        if (!made) others = makeOthers();
        made = true;
        return others;
      },
      defaultOf: (name) => (Object.hasOwn(properties, name) ? properties[name]?.default : undefined),
    };
  }

  #list(schema: TypeSchema, preserved: boolean): ListType {
    const items = schema.items === undefined ? ATOM : this.of(schema.items, preserved);
    return { ...relationOf(schema), items };
  }
}

function relationOf(schema: TypeSchema): Pick<ListType, 'associative' | 'keys'> {
  const type = schema['x-kubernetes-list-type'];
  if (type !== undefined) {
    if (type === 'set') return { associative: true, keys: [] };
    if (type === 'map') return { associative: true, keys: schema['x-kubernetes-list-map-keys'] ?? [] };
    return { associative: false, keys: [] };
  }
  const strategy = schema['x-kubernetes-patch-strategy'];
  if (strategy === undefined || !strategy.startsWith('merge')) return { associative: false, keys: [] };
  const key = schema['x-kubernetes-patch-merge-key'];
  return { associative: true, keys: key === undefined ? [] : [key] };
}

function scalarOf(schema: TypeSchema): ScalarType {
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'numeric';
    case 'boolean':
      return 'boolean';
    case 'string':
      return schema.format === undefined || schema.format === '' || schema.format === 'byte'
        ? 'string'
        : 'untyped';
    default:
      return 'untyped';
  }
}

const embedded = (schema: TypeSchema): boolean => schema['x-kubernetes-embedded-resource'] === true;

const OBJECT_META = '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** What every object has, whatever its schema says of it. */
export const EMBEDDED: Record<string, TypeSchema> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { allOf: [{ $ref: OBJECT_META }] },
};
