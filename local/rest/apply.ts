import { addAll } from '../add-all.ts';
import type { Clock } from '../clock.ts';
import type { StoredObject } from '../object.ts';
import { isObject, type Json, type JsonObject } from '../schema/json.ts';
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
import { acceptObject } from './decode.ts';
import { parseJSON } from './json-text.ts';
import { applyConfig } from './ownership.ts';
import { checkPatchedName } from './patched-name.ts';
import { refuse } from './status.ts';
import { createApplied, replace, type Updated } from './update.ts';

/** The configuration of an apply request, and which of its keys stand twice. */
export interface Config {
  value: Json;
  repeated: string[];
}

/** Its body is YAML, and with that it may be JSON. */
export async function readConfig(body: string): Promise<Config> {
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
    addAll(call.warnings, repeated);
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
