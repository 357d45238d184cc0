import { isRecord } from '../object.ts';
import { deepEqual, type Json, type JsonObject, setMember } from '../schema/json.ts';
import { isTooDeep } from './json-text.ts';

/**
 * JSON patch (RFC 6902), as the API server applies it: a `replace` of a member that is not there adds it, a `test`
 * for null passes where nothing is.
 */

/** An operation that cannot be applied, or is none. */
export class JSONPatchError extends Error {
  override readonly name = 'JSONPatchError';
}

/** What all copies of a patch may add together, as a kube-apiserver's: a few dozen that double each time need more than there is. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

/** What may still be copied. */
interface Budget {
  bytes: number;
}

/** Applies operations in order to `document`, which is changed; the outcome is answered. Throws JSONPatchError. */
export function applyJSONPatch(document: Json, operations: readonly unknown[]): Json {
  // The root has a parent too: so it is a member like any other.
  const root: JsonObject = { '': document };
  const budget: Budget = { bytes: MAX_COPIED_BYTES };
  try {
    for (const operation of operations) applyOne(root, operation, budget);
  } catch (error) {
    // Moves nest a value one level deeper each, and no step of them is deep by itself.
    if (error instanceof RangeError) throw new JSONPatchError('nested too deeply');
    throw error;
  }
  const outcome = root[''] ?? null;
  if (isTooDeep(outcome)) throw new JSONPatchError('nested too deeply');
  return outcome;
}

function applyOne(root: JsonObject, operation: unknown, budget: Budget): void {
  if (!isRecord(operation) || typeof operation['op'] !== 'string')
    throw new JSONPatchError('not an operation');
  const path = pointer(operation['path']);
  switch (operation['op']) {
    case 'add':
      add(root, path, valueOf(operation));
      return;
    case 'remove':
      remove(root, path);
      return;
    case 'replace':
      replace(root, path, valueOf(operation));
      return;
    case 'move': {
      const from = pointer(operation['from']);
      if (path.length > from.length && from.every((token, i) => token === path[i])) {
        throw new JSONPatchError('a value cannot be moved into itself');
      }
      add(root, path, remove(root, from));
      return;
    }
    case 'copy':
      add(root, path, copyOf(get(root, pointer(operation['from'])) ?? null, budget));
      return;
    case 'test':
      if (!deepEqual(get(root, path, true) ?? null, (operation['value'] ?? null) as Json)) {
        throw new JSONPatchError('a test has failed');
      }
      return;
    default:
      throw new JSONPatchError(`unknown operation ${JSON.stringify(operation['op'])}`);
  }
}

function valueOf(operation: Record<string, unknown>): Json {
  if (!Object.hasOwn(operation, 'value')) throw new JSONPatchError('an operation without a value');
  return structuredClone(operation['value']) as Json;
}

function copyOf(value: Json, budget: Budget): Json {
  const text = JSON.stringify(value);
  budget.bytes -= Buffer.byteLength(text);
  if (budget.bytes < 0) throw new JSONPatchError(`copies of more than ${MAX_COPIED_BYTES} bytes`);
  return JSON.parse(text) as Json;
}

/** The tokens of a pointer below the root: '' is the document itself. */
function pointer(text: unknown): string[] {
  if (typeof text !== 'string' || (text !== '' && !text.startsWith('/')))
    throw new JSONPatchError('not a pointer');
  return text.split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function parentOf(root: JsonObject, path: readonly string[]): { parent: Json; last: string } {
  let parent: Json = root;
  for (const token of path.slice(0, -1)) parent = child(parent, token);
  return { parent, last: path.at(-1) ?? '' };
}

function child(parent: Json, token: string): Json {
  if (Array.isArray(parent)) {
    const item = parent[index(token, parent.length - 1)];
    if (item !== undefined) return item;
  } else if (isRecord(parent) && Object.hasOwn(parent, token)) return parent[token] as Json;
  throw new JSONPatchError(`nothing at ${JSON.stringify(token)}`);
}

function index(token: string, max: number): number {
  if (!/^(?:0|[1-9]\d{0,8})$/.test(token) || Number(token) > max) {
    throw new JSONPatchError(`no index ${JSON.stringify(token)}`);
  }
  return Number(token);
}

function get(root: JsonObject, path: readonly string[], lenient = false): Json | undefined {
  const { parent, last } = parentOf(root, path);
  if (lenient && isRecord(parent) && !Object.hasOwn(parent, last)) return undefined;
  return child(parent, last);
}

function add(root: JsonObject, path: readonly string[], value: Json): void {
  const { parent, last } = parentOf(root, path);
  if (Array.isArray(parent))
    parent.splice(last === '-' ? parent.length : index(last, parent.length), 0, value);
  else if (isRecord(parent)) setMember(parent, last, value);
  else throw new JSONPatchError('nothing can be added to a plain value');
}

function remove(root: JsonObject, path: readonly string[]): Json {
  const { parent, last } = parentOf(root, path);
  const value = child(parent, last);
  if (Array.isArray(parent)) parent.splice(index(last, parent.length - 1), 1);
  else delete (parent as JsonObject)[last];
  return value;
}

function replace(root: JsonObject, path: readonly string[], value: Json): void {
  const { parent, last } = parentOf(root, path);
  if (Array.isArray(parent)) parent[index(last, parent.length - 1)] = value;
  else if (isRecord(parent)) setMember(parent, last, value);
  else throw new JSONPatchError('a plain value has no members');
}
