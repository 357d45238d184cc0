import { refuse } from '../rest/status.ts';
import { isObject, type Json, type JsonObject, member } from '../schema/json.ts';
import { applyConfiguration } from './apply.ts';
import { capUpdaters } from './cap.ts';
import { typeErrors } from './check.ts';
import { ApplyConflicts, conflictError, conflictFields } from './conflict.ts';
import { fieldsAppliedBefore, keepLastApplied, KUBECTL } from './last-applied.ts';
import { decodeManagers, encodeManagers, isReset, type Managers } from './managers.ts';
import { trackUpdate, typeAt, type Write } from './tracking.ts';

/** Who owns which fields takes no more room than this beside an object. */
const MAX_BYTES = 1024 * 1024;

/**
 * metadata.managedFields of an object that is about to be written; undefined: it has none. `live` is undefined for
 * one that is created, in place of an object that has the members `zero`. What `next` itself says of owners counts, as far as it can be read.
 */
export function ownersOfUpdate(
  live: JsonObject | undefined,
  next: JsonObject,
  write: Write,
  zero: JsonObject = {},
): Json[] | undefined {
  const before = ownersBefore(live, next, write);
  // Somebody asked to forget them: they come back with the first apply.
  if (before.size === 0 && live !== undefined) return undefined;
  const objects = { live: withoutOwners(live ?? { ...emptyOf(next), ...zero }), next: withoutOwners(next) };
  const managers = trackUpdate(before, objects, write);
  capUpdaters(managers);
  if (managers.size === 0) return undefined;
  return tooLarge(managers) ? undefined : encodeManagers(managers);
}

/** Whether their names alone take that much: what is beside them in the text is no more than half as much again. */
function tooLarge(managers: Managers): boolean {
  let left = MAX_BYTES;
  for (const { fields } of managers.values()) {
    left -= fields.length;
    if (left < 0) return true;
  }
  return false;
}

function ownersBefore(live: JsonObject | undefined, next: JsonObject, write: Write): Managers {
  const there = live === undefined ? undefined : entriesOf(live);
  // A subresource says nothing of owners.
  if (write.subresource !== '') return decodeManagers(there) ?? new Map();
  const given = entriesOf(next);
  if (isReset(given)) return new Map();
  const read = decodeManagers(given);
  if (read !== undefined && read.size > 0) return read;
  return decodeManagers(there) ?? new Map();
}

function entriesOf(object: JsonObject): Json | undefined {
  const metadata = member(object, 'metadata');
  return isObject(metadata) ? member(metadata, 'managedFields') : undefined;
}

function withoutOwners(object: JsonObject): JsonObject {
  const metadata = member(object, 'metadata');
  if (!isObject(metadata) || !Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

function emptyOf(object: JsonObject): JsonObject {
  return { apiVersion: object['apiVersion'] ?? '', kind: object['kind'] ?? '', metadata: {} };
}

/**
 * An object with a configuration applied to it, its owners with it. `live` is undefined where there is none yet.
 * Throws 400, 409 for fields that others own, and 500 for a configuration that is not of the kind's type, as a
 * kube-apiserver does.
 */
export function applyTo(
  live: JsonObject | undefined,
  config: JsonObject,
  write: Write,
  options: { force: boolean; describe: string },
): JsonObject {
  if (isObject(config['metadata']) && Array.isArray(config['metadata']['managedFields']))
    throw refuse.badRequest('metadata.managedFields must be nil');
  const type = typeAt(write);
  const errors = typeErrors(config, type);
  if (errors.length > 0) {
    const text =
      errors.length === 1
        ? (errors[0] ?? '')
        : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');
    throw refuse.storage(`failed to create typed patch object (${options.describe}): ${text}`);
  }
  const owners = live === undefined ? new Map() : decodeManagers(entriesOf(live));
  if (owners === undefined) throw refuse.storage('failed to decode managed fields');
  const objects = { live: withoutOwners(live ?? emptyOf(config)), config };
  const { object, managers } = apply(objects, owners, write, options.force);
  const next: JsonObject = {
    ...object,
    metadata: isObject(object['metadata']) ? { ...object['metadata'] } : {},
  };
  if (write.manager === KUBECTL) keepLastApplied(next, config);
  if (tooLarge(managers))
    throw refuse.tooLarge(`metadata.managedFields of the object would be larger than ${MAX_BYTES} bytes`);
  const entries = encodeManagers(managers);
  if (entries.length > 0) (next['metadata'] as JsonObject)['managedFields'] = entries;
  return next;
}

function apply(
  objects: { live: JsonObject; config: JsonObject },
  owners: Managers,
  write: Write,
  force: boolean,
): { object: JsonObject; managers: Managers } {
  try {
    return applyConfiguration(objects, owners, write, force);
  } catch (error) {
    if (!(error instanceof ApplyConflicts)) throw error;
    if (write.manager !== KUBECTL) throw conflictError(error.conflicts);
    // What client-side apply has set is kubectl's own already.
    const mine = fieldsAppliedBefore(objects.live, typeAt(write), write.apiVersion);
    if (mine === undefined) throw conflictError(error.conflicts);
    if (conflictFields(error.conflicts).difference(mine).empty)
      return applyConfiguration(objects, owners, write, true);
    const others = error.conflicts
      .map((conflict) => ({ ...conflict, fields: conflict.fields.difference(mine) }))
      .filter(({ fields }) => !fields.empty);
    throw conflictError(others);
  }
}
