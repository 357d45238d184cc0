import type { Clock } from '../clock.ts';
import { isRecord, type StoredObject } from '../object.ts';
import { strictDecodingMessage } from '../schema/compile.ts';
import { fieldErrors } from '../schema/field-error.ts';
import { goJSON, isObject, type Json, type JsonObject } from '../schema/json.ts';
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
import { fillDefaults } from './create.ts';
import { acceptObject, DecodeRefusal } from './decode.ts';
import { applyJSONPatch, JSONPatchError } from './json-patch.ts';
import { parseJSON } from './json-text.ts';
import { mergePatch } from './merge-patch.ts';
import { applyConfig, recordOwners } from './ownership.ts';
import { failure, refuse, StatusError } from './status.ts';
import { strategicMerge } from './strategic-merge.ts';
import { createApplied, replace, type Updated } from './update.ts';

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
  call.warnings.push(...unknown.sort().map((key) => `unknown field ${JSON.stringify(key)}`));
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

function checkPatchedName(call: NamedCall, object: StoredObject): void {
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
}

/** The configuration of an apply request, and which of its keys stand twice. */
interface Config {
  value: Json;
  repeated: string[];
}

/** Its body is YAML, and with that it may be JSON. */
async function readConfig(body: string): Promise<Config> {
  const { readYAML } = await import('./yaml-text.ts');
  const { value, repeated, error } = readYAML(body);
  if (error !== undefined) {
    // What begins as JSON gets further before it is found to be none.
    throw refuse.badRequest(
      body.trimStart().startsWith('{')
        ? `error decoding patch: error converting YAML to JSON: yaml: ${error}`
        : `error encoding patch: yaml: ${error}`,
    );
  }
  // Nothing at all is an empty configuration.
  return { value: (parseJSON(JSON.stringify(value ?? {})) ?? {}) as Json, repeated };
}

/** An apply request, its configuration read. */
export async function apply(
  call: NamedCall,
  config: Config,
  context: { store: Store; clock: Clock; mayCreate: () => void },
): Promise<Updated> {
  if (call.name === undefined) throw refuse.badRequest('name must be provided');
  return context.store.write((tx) => {
    const stored = tx.get(storageId(call.kind), keyOf(call));
    if (stored === undefined && call.subresource !== undefined)
      throw refuse.notFound(groupResource(call), call.name);
    const object = applied(call, stored, config, context.clock);
    if (stored !== undefined) return { object: replace(call, stored, object, tx), created: false };
    context.mayCreate();
    return { object: createApplied(call, object, tx, context.clock), created: true };
  });
}

/** What becomes of an object, or of none. */
function applied(
  call: NamedCall,
  stored: StoredObject | undefined,
  config: Config,
  clock: Clock,
): StoredObject {
  const live = stored === undefined ? undefined : fromStorage(call, structuredClone(stored));
  const { value, repeated } = config;
  if (!isObject(value)) {
    const found = Array.isArray(value) ? 'array' : typeof value;
    throw refuse.badRequest(
      `error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${found} into Go value of type map[string]interface {}`,
    );
  }
  checkType(call, value);
  const next = applyConfig(call, live, structuredClone(value), clock);
  if (repeated.length > 0) judgeRepeated(call, repeated);
  const { object } = acceptObject(call, { ...next }, { nulls: 'keep' });
  const { uid } = object.metadata;
  if (stored === undefined && uid !== undefined && uid !== '') {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw refuse.conflict(groupResource(call), call.name, why);
  }
  if (call.kind.namespaced && call.namespace !== undefined) object.metadata.namespace ??= call.namespace;
  checkPatchedName(call, object);
  fillDefaults(call, object);
  return object;
}

function judgeRepeated(call: Call, repeated: string[]): void {
  if (call.fieldValidation === 'Ignore') return;
  if (call.fieldValidation === 'Warn') {
    call.warnings.push(...repeated);
    return;
  }
  throw refuse.badRequest(
    `error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n${repeated.map((text) => `  ${text}`).join('\n')}`,
  );
}

function checkType(call: Call, config: JsonObject): void {
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  const [kind, version] = [text(config['kind']), text(config['apiVersion'])];
  if (kind === call.kind.kind && version === apiVersion(call)) return;
  const gv = version.includes('/') ? version : `/${version}`;
  throw refuse.badRequest(`invalid object type: ${gv}, Kind=${kind}`);
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
    call.warnings.push(...unknown.map((field) => `unknown field ${JSON.stringify(field)}`));
    return;
  }
  throw refuse.invalid('', '', '', [fieldErrors.invalid('patch', text, strictDecodingMessage(unknown))]);
}
