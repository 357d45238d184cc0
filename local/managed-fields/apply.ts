import { deepEqual, type Json, type JsonObject } from '../schema/json.ts';
import { fieldSetOf, withDeclaredMembers } from './field-set-of.ts';
import { FieldSet } from './field-set.ts';
import type { FieldType } from './field-type.ts';
import { type Manager, managerKey, type Managers } from './managers.ts';
import { mergeValues } from './merge.ts';
import { withoutFields } from './remove.ts';
import {
  managerOf,
  reconciled,
  takeFromOthers,
  trackUpdate,
  typeAt,
  withoutServersOwn,
  type Write,
} from './tracking.ts';

/** Owns what was there before anybody applied, of an object whose owners were never recorded. */
const BEFORE_FIRST_APPLY = 'before-first-apply';

export interface Applied {
  object: JsonObject;
  managers: Managers;
}

/**
 * What is there with a configuration applied to it: its fields are the applier's from now on, and what the applier
 * had applied before and has not now is removed, where nobody else owns it. Throws ApplyConflicts.
 */
export function applyConfiguration(
  objects: { live: JsonObject; config: JsonObject },
  owners: Managers,
  write: Write,
  force: boolean,
): Applied {
  const { live, config } = objects;
  const type = typeAt(write);
  const managers = reconciled(owners.size === 0 ? firstOwners(live, write) : owners, write);
  const key = managerKey({ ...write, operation: 'Apply' });
  const last = managers.get(key);
  const merged = mergeValues(live, config, type) as JsonObject;
  const fields = fieldSetOf(config, type).without(write.reset);
  managers.set(key, managerOf(write, 'Apply', fields));
  const object = prune(merged, managers, last, write);
  takeFromOthers(managers, key, { live, next: object }, write, force);
  const own = withoutServersOwn(managers.get(key)?.fields ?? new FieldSet());
  // Its time is that of its last change to the object.
  const time = deepEqual(live, object) ? last?.time : write.now;
  if (own.empty) managers.delete(key);
  else managers.set(key, { ...managerOf(write, 'Apply', own), time });
  return { object, managers };
}

function firstOwners(live: JsonObject, write: Write): Managers {
  const nothing: JsonObject = { apiVersion: live['apiVersion'] ?? '', kind: live['kind'] ?? '' };
  return trackUpdate(new Map(), { live: nothing, next: live }, { ...write, manager: BEFORE_FIRST_APPLY });
}

/** Without what the applier applied last time, but for what somebody owns, or nobody ever applied. */
function prune(merged: JsonObject, managers: Managers, last: Manager | undefined, write: Write): JsonObject {
  const view = last === undefined ? undefined : write.view(last.apiVersion);
  if (last === undefined || last.fields.empty || view === undefined) return merged;
  const { type } = view;
  const whole = view.convert(merged);
  const lastFields = withDeclaredMembers(last.fields, type);
  let pruned = rest(whole, type, lastFields);
  for (const [apiVersion, owned] of ownedByVersion(managers, last.apiVersion)) {
    const at = write.view(apiVersion);
    if (at !== undefined)
      pruned = view.convert(addBack(at.convert(merged), at.convert(pruned), at.type, owned));
  }
  // Of what is gone by now, only what the applier had applied may go.
  const gone = fieldsOf(whole, type).difference(fieldsOf(pruned, type)).intersection(lastFields);
  return write.view(write.apiVersion)?.convert(rest(whole, type, gone)) ?? merged;
}

function addBack(whole: JsonObject, pruned: JsonObject, type: FieldType, owned: FieldSet): JsonObject {
  const kept = fieldsOf(pruned, type).union(withDeclaredMembers(owned, type));
  return rest(whole, type, fieldsOf(whole, type).difference(kept));
}

const fieldsOf = (value: JsonObject, type: FieldType): FieldSet =>
  withDeclaredMembers(fieldSetOf(value, type), type);

const rest = (value: JsonObject, type: FieldType, gone: FieldSet): JsonObject =>
  (withoutFields(value, type, gone) ?? {}) as Json as JsonObject;

/** All that is owned, the pruned version's first. */
function ownedByVersion(managers: Managers, first: string): [string, FieldSet][] {
  const out = new Map<string, FieldSet>([[first, new FieldSet()]]);
  for (const { apiVersion, fields } of managers.values())
    out.set(apiVersion, (out.get(apiVersion) ?? new FieldSet()).union(fields));
  return [...out];
}
