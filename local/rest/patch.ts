import { addAll } from '../add-all.ts';
import type { Clock } from '../clock.ts';
import { isRecord, type StoredObject } from '../object.ts';
import { strictDecodingMessage } from '../schema/compile.ts';
import { fieldErrors } from '../schema/field-error.ts';
import { goJSON, type Json, type JsonObject } from '../schema/json.ts';
import type { Store } from '../store/store.ts';
import {
  apiVersion,
  type Call,
  fromStorage,
  groupResource,
  keyOf,
  type NamedCall,
  storageId,
} from './call.ts';
import { apply, readConfig } from './apply.ts';
import { fillDefaults } from './create.ts';
import { acceptObject, DecodeRefusal } from './decode.ts';
import { applyJSONPatch, JSONPatchError } from './json-patch.ts';
import { parseJSON } from './json-text.ts';
import { mergePatch } from './merge-patch.ts';
import { recordOwners } from './ownership.ts';
import { checkPatchedName } from './patched-name.ts';
import { failure, refuse, StatusError } from './status.ts';
import { strategicMerge } from './strategic-merge.ts';
import { replace, type Updated } from './update.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';
const MAX_OPERATIONS = 10_000;

/** PATCH. Its own errors come before the object is looked for, as the API server's do. */
export async function patch(
  call: NamedCall,
  body: string,
  contentType: string,
  context: { store: Store; clock: Clock; mayCreate: () => void },
): Promise<Updated> {
  const type = contentType.split(';')[0]?.trim() ?? '';
  if (type === APPLY_PATCH) return apply(call, await readConfig(body), context);
  const change = compilePatch(call, body, type);
  if (call.name === undefined) throw refuse.badRequest('name must be provided');
  return context.store.write((tx) => {
    const stored = tx.get(storageId(call.kind), keyOf(call));
    if (stored === undefined) throw refuse.notFound(groupResource(call), call.name);
    const current = fromStorage(call, structuredClone(stored));
    const patched = change(current);
    if (!isRecord(patched)) throw refuse.badRequest('the patched object is not an object');
    const text = call.fieldValidation === 'Strict' ? JSON.stringify(patched) : '';
    const version = apiVersion(call);
    if (patched['apiVersion'] !== version) {
      warnOfOtherVersion(call, patched);
      throw refuse.invalid(call.kind.group, call.kind.kind, call.name, [
        fieldErrors.invalid('apiVersion', (patched['apiVersion'] ?? '') as Json, `must be ${version}`),
      ]);
    }
    const { object, unknown } = acceptPatched(call, patched);
    if (unknown.length > 0) judgePatchedFields(call, unknown, text);
    checkPatchedName(call, object);
    // A patch that removes the version takes the one there is: it has just been applied to it.
    object.metadata.resourceVersion ??= stored.metadata.resourceVersion ?? '';
    fillDefaults(call, object);
    recordOwners(call, fromStorage(call, stored), object, context.clock);
    return { object: replace(call, stored, object, tx), created: false };
  });
}

/** A version that is not there has no schema, so that nothing is known of what is beyond the metadata. */
function warnOfOtherVersion(call: Call, patched: Record<string, unknown>): void {
  if (call.kind.crd === undefined || call.fieldValidation !== 'Warn') return;
  const unknown = Object.keys(patched).filter((key) => !['apiVersion', 'kind', 'metadata'].includes(key));
  addAll(
    call.warnings,
    unknown.sort().map((key) => `unknown field ${JSON.stringify(key)}`),
  );
}

/** What a patch has made, where its types are wrong, is shown whole. */
function acceptPatched(
  call: Call,
  patched: Record<string, unknown>,
): { object: StoredObject; unknown: string[] } {
  const text = goJSON(patched as JsonObject);
  try {
    return acceptObject(call, patched);
  } catch (error) {
    if (!(error instanceof DecodeRefusal)) throw error;
    throw refuse.invalid('', '', '', [fieldErrors.invalid('patch', text, error.why)]);
  }
}

function compilePatch(call: Call, body: string, type: string): (current: StoredObject) => unknown {
  if (type === JSON_PATCH) return compileJSONPatch(body);
  if (type === MERGE_PATCH) {
    const merge = parsePatch(body);
    return (current) => mergePatch(current, merge);
  }
  if (type === STRATEGIC_PATCH && call.kind.traits.strategicMerge) {
    const merge = parsePatch(body);
    return (current) => strategicMerge(current, merge);
  }
  throw refuse.unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted(call).join(', ')}`,
  );
}

function accepted(call: Call): string[] {
  return [
    JSON_PATCH,
    MERGE_PATCH,
    ...(call.kind.traits.strategicMerge ? [STRATEGIC_PATCH] : []),
    APPLY_PATCH,
  ];
}

function parsePatch(body: string): unknown {
  let value: unknown;
  try {
    value = parseJSON(body);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw refuse.badRequest('invalid JSON patch');
  }
  if (isRecord(value)) return value;
  if (value === null) throw refuse.badRequest('Invalid JSON Patch');
  const found = Array.isArray(value) ? 'array' : typeof value;
  throw refuse.badRequest(
    `error decoding patch: json: cannot unmarshal ${found} into Go value of type map[string]interface {}`,
  );
}

function compileJSONPatch(body: string): (current: StoredObject) => unknown {
  let operations: unknown;
  try {
    operations = parseJSON(body);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw refuse.badRequest(`error decoding patch: ${error instanceof Error ? error.message : 'not JSON'}`);
  }
  if (!Array.isArray(operations)) {
    throw refuse.badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  }
  if (operations.length > MAX_OPERATIONS) {
    throw refuse.tooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    );
  }
  return (current) => {
    try {
      return applyJSONPatch(current as unknown as Json, operations);
    } catch (error) {
      if (!(error instanceof JSONPatchError)) throw error;
      throw failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
    }
  };
}

/** Unknown fields in the outcome: the API server words this unlike those of a whole object. */
function judgePatchedFields(call: Call, unknown: string[], text: string): void {
  if (call.fieldValidation === 'Ignore') return;
  if (call.fieldValidation === 'Warn') {
    addAll(
      call.warnings,
      unknown.map((field) => `unknown field ${JSON.stringify(field)}`),
    );
    return;
  }
  throw refuse.invalid('', '', '', [fieldErrors.invalid('patch', text, strictDecodingMessage(unknown))]);
}
