import { deepEqual, isObject, type Json, type JsonObject } from '../schema/json.ts';
import type { FieldSet } from './field-set.ts';
import { decodeFields, encodeFields } from './fields-v1.ts';

type Operation = 'Apply' | 'Update';

/** Who owns fields of an object, by what kind of write, seen through which version. */
export interface Manager {
  manager: string;
  operation: Operation;
  apiVersion: string;
  subresource: string;
  fields: FieldSet;
  /** RFC 3339; when it last changed what it owns. */
  time: string | undefined;
}

/** By `managerKey`. */
export type Managers = Map<string, Manager>;

/** An applier is one manager whatever version it applies in; others are one for each version. */
export function managerKey(
  of: Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>,
): string {
  return JSON.stringify({
    ...(of.manager === '' ? {} : { manager: of.manager }),
    operation: of.operation,
    ...(of.operation === 'Apply' ? {} : { apiVersion: of.apiVersion }),
    ...(of.subresource === '' ? {} : { subresource: of.subresource }),
  });
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Reads metadata.managedFields. Undefined where an entry cannot be read. */
export function decodeManagers(entries: Json | undefined): Managers | undefined {
  const out: Managers = new Map();
  if (entries === undefined) return out;
  if (!Array.isArray(entries)) return undefined;
  for (const entry of entries) {
    const manager = readEntry(entry);
    if (manager === undefined) return undefined;
    out.set(managerKey(manager), manager);
  }
  return out;
}

function readEntry(entry: Json): Manager | undefined {
  if (!isObject(entry)) return undefined;
  const operation = entry['operation'];
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  const apiVersion = text(entry['apiVersion']);
  const fields = decodeFields(entry['fieldsV1']);
  if (apiVersion === '' || entry['fieldsType'] !== 'FieldsV1' || fields === undefined) return undefined;
  const { manager, subresource, time } = entry;
  return {
    manager: text(manager),
    operation,
    apiVersion,
    subresource: text(subresource),
    fields,
    time: typeof time === 'string' ? time : undefined,
  };
}

/** As it is stored: appliers first, then by time and name. */
export function encodeManagers(managers: Managers): JsonObject[] {
  return [...managers.values()].sort(order).map((of) => ({
    ...(of.manager === '' ? {} : { manager: of.manager }),
    operation: of.operation,
    apiVersion: of.apiVersion,
    ...(of.time === undefined ? {} : { time: of.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: encodeFields(of.fields),
    ...(of.subresource === '' ? {} : { subresource: of.subresource }),
  }));
}

function order(a: Manager, b: Manager): number {
  return (
    byText(a.operation, b.operation) ||
    seconds(a) - seconds(b) ||
    byText(a.manager, b.manager) ||
    byText(a.apiVersion, b.apiVersion) ||
    byText(a.subresource, b.subresource)
  );
}

export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export function seconds(manager: Manager): number {
  const time = manager.time === undefined ? 0 : Date.parse(manager.time);
  return Number.isNaN(time) ? 0 : Math.floor(time / 1000);
}

/** Whether a client asks to forget who owned what: an empty list, or one empty entry. */
export function isReset(entries: Json | undefined): boolean {
  if (!Array.isArray(entries)) return false;
  return (
    entries.length === 0 ||
    (entries.length === 1 && isObject(entries[0]) && Object.keys(entries[0]).length === 0)
  );
}

/** The entries once some fields are gone that the server itself has taken away. */
export function forgetFields(entries: Json[], gone: FieldSet): Json[] {
  const managers = decodeManagers(entries);
  if (managers === undefined) return entries;
  for (const [key, manager] of managers) {
    const fields = manager.fields.without(gone);
    if (fields.empty) managers.delete(key);
    else managers.set(key, { ...manager, fields });
  }
  return encodeManagers(managers);
}

/** The same owners of the same fields, whenever they came to own them. */
export function sameButTimes(a: Json[], b: Json[]): boolean {
  const timeless = (entries: Json[]): Json[] =>
    entries.map((entry) => {
      if (!isObject(entry)) return entry;
      const { time: _, ...rest } = entry;
      return rest;
    });
  return a.length === b.length && deepEqual(timeless(a), timeless(b));
}
