import type { JsonObject } from '../schema/json.ts';
import { compare, type Comparison } from './compare.ts';
import { ApplyConflicts, type Conflict } from './conflict.ts';
import { FieldSet } from './field-set.ts';
import type { FieldType } from './field-type.ts';
import { type Manager, managerKey, type Managers } from './managers.ts';
import { field } from './path-element.ts';
import { reconcile } from './reconcile.ts';

/** An object as one of its versions has it. */
export interface VersionView {
  type: FieldType;
  convert(object: JsonObject): JsonObject;
}

/** One write, as far as ownership goes. */
export interface Write {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource: string;
  /** Undefined: the version is not served (any more); what was owned through it is forgotten. */
  view(apiVersion: string): VersionView | undefined;
  /** What a write through this subresource never changes. */
  reset: FieldSet;
  /** RFC 3339, whole seconds. */
  now: string;
}

/** Metadata that nobody owns: it is the server's. */
const SERVERS_OWN = FieldSet.of(
  [field('apiVersion')],
  [field('kind')],
  [field('metadata')],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => [field('metadata'), field(name)]),
);

export function withoutServersOwn(fields: FieldSet): FieldSet {
  return fields.difference(SERVERS_OWN);
}

export function typeAt(write: Write): FieldType {
  return write.view(write.apiVersion)?.type ?? {};
}

/** Brings what was recorded under older schemas up to date, and forgets versions that are gone. */
export function reconciled(managers: Managers, write: Write): Managers {
  const out: Managers = new Map();
  for (const [key, manager] of managers) {
    const view = write.view(manager.apiVersion);
    if (view !== undefined) out.set(key, { ...manager, fields: reconcile(manager.fields, view.type) });
  }
  return out;
}

/**
 * Takes from all others what `next` changes or removes. Without `force` throws ApplyConflicts where one of them
 * loses a field that has another value now. Answers what has changed.
 */
export function takeFromOthers(
  managers: Managers,
  self: string,
  objects: { live: JsonObject; next: JsonObject },
  write: Write,
  force: boolean,
): Comparison {
  const comparisons = new Map<string, Comparison>();
  const changes = (apiVersion: string): Comparison | undefined => {
    const known = comparisons.get(apiVersion);
    if (known !== undefined) return known;
    const view = write.view(apiVersion);
    if (view === undefined) return undefined;
    const found = compare(view.convert(objects.live), view.convert(objects.next), view.type).without(
      write.reset,
    );
    comparisons.set(apiVersion, found);
    return found;
  };
  const own = changes(write.apiVersion);
  if (own === undefined) throw new Error(`the version ${write.apiVersion} of the write is not served`);
  const conflicts: Conflict[] = [];
  for (const [key, manager] of managers) {
    if (key === self) continue;
    const change = changes(manager.apiVersion);
    if (change === undefined || change.same) continue;
    const lost = manager.fields.intersection(changed(change));
    if (!lost.empty) conflicts.push({ key, manager, fields: lost });
  }
  if (!force && conflicts.length > 0) throw new ApplyConflicts(conflicts);
  for (const [key, manager] of managers) {
    const change = changes(manager.apiVersion);
    if (key === self || change === undefined || change.same) continue;
    const fields = manager.fields.difference(changed(change)).difference(change.removed);
    if (fields.empty) managers.delete(key);
    else managers.set(key, { ...manager, fields });
  }
  return own;
}

/** What has another value now. */
const changed = ({ modified, added }: Comparison): FieldSet => modified.union(added);

/** Gives the writer of an update what it has changed. */
export function trackUpdate(
  before: Managers,
  objects: { live: JsonObject; next: JsonObject },
  write: Write,
): Managers {
  const managers = reconciled(before, write);
  const identity = { ...write, operation: 'Update' as const };
  const key = managerKey(identity);
  const change = takeFromOthers(managers, '', objects, write, true);
  const fields = withoutServersOwn(changed(change));
  if (fields.empty) return managers;
  const old = managers.get(key);
  managers.set(key, managerOf(write, 'Update', old === undefined ? fields : fields.union(old.fields)));
  return managers;
}

export function managerOf(write: Write, operation: Manager['operation'], fields: FieldSet): Manager {
  const { manager, apiVersion, subresource, now } = write;
  return { manager, operation, apiVersion, subresource, fields, time: now };
}
