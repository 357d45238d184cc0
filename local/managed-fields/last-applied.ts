import { deepCopy, goJSON, isObject, type Json, type JsonObject, member } from '../schema/json.ts';
import { compare } from './compare.ts';
import { fieldSetOf } from './field-set-of.ts';
import type { FieldSet } from './field-set.ts';
import type { FieldType } from './field-type.ts';
import { typeErrors } from './check.ts';

/** Where client-side `kubectl apply` keeps what it applied. */
const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
/** Who may take over from it, and keeps it up to date. */
export const KUBECTL = 'kubectl';
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

function annotations(object: JsonObject): JsonObject | undefined {
  const metadata = member(object, 'metadata');
  const found = isObject(metadata) ? member(metadata, 'annotations') : undefined;
  return isObject(found) ? found : undefined;
}

function lastApplied(object: JsonObject): string | undefined {
  const found = annotations(object)?.[ANNOTATION];
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The fields that client-side apply has set, and that are still as it set them. Undefined: it has applied nothing. */
export function fieldsAppliedBefore(
  live: JsonObject,
  type: FieldType,
  apiVersion: string,
): FieldSet | undefined {
  const text = lastApplied(live);
  const before = text === undefined ? undefined : parse(text);
  if (!isObject(before) || before['apiVersion'] !== apiVersion) return undefined;
  if (typeErrors(before, type).length > 0) return undefined;
  const change = compare(before, live, type);
  return fieldSetOf(before, type)
    .difference(change.modified)
    .difference(change.added)
    .difference(change.removed);
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** Puts what kubectl applies by the server where client-side apply would look for it, if that has been used. */
export function keepLastApplied(object: JsonObject, config: JsonObject): void {
  const all = annotations(object);
  if (all === undefined || lastApplied(object) === undefined) return;
  const kept = deepCopy(config);
  const own = annotations(kept);
  if (own !== undefined) delete own[ANNOTATION];
  const text = `${goJSON(kept)}\n`;
  const size = Object.entries({ ...all, [ANNOTATION]: text }).reduce(
    (sum, [key, value]) =>
      sum + Buffer.byteLength(key) + Buffer.byteLength(typeof value === 'string' ? value : ''),
    0,
  );
  all[ANNOTATION] = size > MAX_ANNOTATIONS_BYTES ? '' : text;
}
