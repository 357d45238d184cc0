import { isRecord, type StoredObject } from '../object.ts';
import { strictDecodingMessage } from '../schema/compile.ts';
import { fieldErrors } from '../schema/field-error.ts';
import type { Json } from '../schema/json.ts';
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
import { acceptObject } from './decode.ts';
import { applyJSONPatch, JSONPatchError } from './json-patch.ts';
import { parseJSON } from './json-text.ts';
import { mergePatch } from './merge-patch.ts';
import { failure, refuse, StatusError } from './status.ts';
import { strategicMerge } from './strategic-merge.ts';
import { replace } from './update.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
const APPLY_PATCHES = new Set(['application/apply-patch+yaml', 'application/apply-patch+cbor']);
const MAX_OPERATIONS = 10_000;

/** PATCH. Its own errors come before the object is looked for, as the API server's do. */
export async function patch(
  call: NamedCall,
  body: string,
  contentType: string,
  store: Store,
): Promise<StoredObject> {
  const apply = compilePatch(call, body, contentType);
  if (call.name === undefined) throw refuse.badRequest('name must be provided');
  return store.write((tx) => {
    const stored = tx.get(storageId(call.kind), keyOf(call));
    if (stored === undefined) throw refuse.notFound(groupResource(call), call.name);
    const current = fromStorage(call, structuredClone(stored));
    const patched = apply(current);
    if (!isRecord(patched)) throw refuse.badRequest('the patched object is not an object');
    const text = call.fieldValidation === 'Strict' ? JSON.stringify(patched) : '';
    const version = apiVersion(call);
    if (patched['apiVersion'] !== version) {
      throw refuse.invalid(call.kind.group, call.kind.kind, call.name, [
        fieldErrors.invalid('apiVersion', (patched['apiVersion'] ?? '') as Json, `must be ${version}`),
      ]);
    }
    const { object, unknown } = acceptObject(call, patched);
    if (unknown.length > 0) judgePatchedFields(call, unknown, text);
    if (call.kind.namespaced && (object.metadata.namespace ?? call.namespace) !== call.namespace) {
      throw refuse.badRequest(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
    }
    if ((object.metadata.name ?? '') === '') {
      throw refuse.badRequest(
        `the name of the object (${call.name} based on URL) was undeterminable: name must be provided`,
      );
    }
    if (object.metadata.name !== call.name) {
      throw refuse.badRequest(
        `the name of the object (${object.metadata.name}) does not match the name on the URL (${call.name})`,
      );
    }
    // A patch that removes the version takes the one there is: it has just been applied to it.
    object.metadata.resourceVersion ??= stored.metadata.resourceVersion ?? '';
    return replace(call, stored, object, tx);
  });
}

function compilePatch(call: Call, body: string, contentType: string): (current: StoredObject) => unknown {
  const type = contentType.split(';')[0]?.trim() ?? '';
  if (APPLY_PATCHES.has(type)) {
    throw refuse.unsupportedMediaType(
      'server-side apply is not supported by this server yet: use client-side apply (kubectl apply without --server-side), ' +
        `or a patch of type ${accepted(call).join(' or ')}`,
    );
  }
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
  return [JSON_PATCH, MERGE_PATCH, ...(call.kind.traits.strategicMerge ? [STRATEGIC_PATCH] : [])];
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
    call.warnings.push(...unknown.map((field) => `unknown field ${JSON.stringify(field)}`));
    return;
  }
  throw refuse.invalid('', '', '', [fieldErrors.invalid('patch', text, strictDecodingMessage(unknown))]);
}
