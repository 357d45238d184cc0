import type { ObjectMeta } from '../crds/meta.ts';
import type { Json } from './schema/json.ts';

/** An object as it is stored and served. What is beyond the metadata is the schema's business. */
export interface StoredObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta & { managedFields?: Json[] };
  [field: string]: unknown;
}

/** `namespace/name`, or `name` for what has no namespace: the key of an object within its resource. */
export function objectKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
