import { z } from 'zod';
import type { ValidationRule } from './rules.ts';

/** The part of `JSONSchemaProps` that a structural schema of ours uses. */
export interface StructuralSchema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  description?: string;
  format?: string;
  default?: string | number | boolean;
  nullable?: true;
  enum?: string[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  items?: StructuralSchema;
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  required?: string[];
  'x-kubernetes-int-or-string'?: true;
  'x-kubernetes-list-type'?: 'map' | 'set' | 'atomic';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: ValidationRule[];
}

type Node = Record<string, unknown>;

/** Copied as they are. Whatever else a schema holds is an error: the API server would drop it in silence. */
const COPIED = new Set([
  'type',
  'description',
  'format',
  'default',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  'required',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
]);

/**
 * A zod schema as the structural schema that a CustomResourceDefinition wants. Throws, naming the path, for what
 * has no structural form (unions but int-or-string, tuples, references, recursion) and for a list, string or map
 * without a bound: the cost of the CEL rules below it could not be estimated.
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  const raw = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', reused: 'inline' });
  return convert(raw, '');
}

function convert(node: Node, path: string): StructuralSchema {
  if (isIntOrString(node)) {
    return { ...described(node), 'x-kubernetes-int-or-string': true };
  }
  const out: Node = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === 'properties') {
      out[key] = Object.fromEntries(
        Object.entries(value as Record<string, Node>).map(([name, child]) => [
          name,
          convert(child, `${path}.${name}`),
        ]),
      );
    } else if (key === 'items') out[key] = convert(value as Node, `${path}[]`);
    else if (key === 'additionalProperties') out[key] = mapValue(value as Node, `${path}{}`);
    else if (COPIED.has(key)) out[key] = value;
    else throw new Error(`${path || '.'}: ${key} has no structural form`);
  }
  tidy(out);
  requireBounds(out, path);
  return out;
}

/**
 * An API server drops a null that is not allowed, in silence: `memory:` with nothing behind it would mean
 * unlimited. Allowed by the schema, it reaches the rules of the map, which refuse it.
 */
function mapValue(node: Node, path: string): StructuralSchema {
  const value = convert(node, path);
  return value['x-kubernetes-int-or-string'] === true ? { ...value, nullable: true } : value;
}

function tidy(out: Node): void {
  // The bounds of every safe integer say nothing.
  if (out['type'] === 'integer' && out['minimum'] === Number.MIN_SAFE_INTEGER) delete out['minimum'];
  if (out['type'] === 'integer' && out['maximum'] === Number.MAX_SAFE_INTEGER) delete out['maximum'];
  if (out['type'] === 'integer') out['format'] = 'int64';
  // The API server knows the format; zod's pattern for it is longer than the rest of the schema.
  if (out['format'] === 'date-time') delete out['pattern'];
}

function requireBounds(out: Node, path: string): void {
  const bounded =
    out['type'] === 'array'
      ? out['maxItems'] !== undefined
      : out['type'] === 'string'
        ? out['maxLength'] !== undefined || out['enum'] !== undefined || out['format'] === 'date-time'
        : out['additionalProperties'] === undefined || out['maxProperties'] !== undefined;
  if (!bounded) throw new Error(`${path || '.'}: a ${String(out['type'])} without an upper bound`);
  if (out['type'] === undefined) throw new Error(`${path || '.'}: no type`);
}

function isIntOrString(node: Node): boolean {
  const branches = node['anyOf'];
  if (!Array.isArray(branches) || branches.length !== 2) return false;
  const types = branches.map((branch: Node) => branch['type']);
  return types.includes('integer') && types.includes('string');
}

function described(node: Node): { description?: string } {
  return typeof node['description'] === 'string' ? { description: node['description'] } : {};
}
