import { isRecord, type StoredObject } from '../object.ts';
import type { JsonObject } from '../schema/json.ts';
import { kindId, type OtherFace, type StorageAlias } from './kind.ts';

/** Event has two faces over one store: core/v1 (as it is stored) and events.k8s.io/v1. */

type Fields = Record<string, unknown>;
const record = (value: unknown): Fields => (isRecord(value) ? value : {});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const involved =
  (field: string) =>
  (event: StoredObject): string =>
    text(record(event['involvedObject'])[field]);

/** What a field selector may ask of a core Event. */
export const eventFields: Record<string, (event: StoredObject) => string> = {
  'involvedObject.kind': involved('kind'),
  'involvedObject.namespace': involved('namespace'),
  'involvedObject.name': involved('name'),
  'involvedObject.uid': involved('uid'),
  'involvedObject.apiVersion': involved('apiVersion'),
  'involvedObject.resourceVersion': involved('resourceVersion'),
  'involvedObject.fieldPath': involved('fieldPath'),
  reason: (event) => text(event['reason']),
  reportingComponent: (event) => text(event['reportingComponent']),
  source: (event) => text(record(event['source'])['component']) || text(event['reportingComponent']),
  type: (event) => text(event['type']),
};

/** [core/v1, events.k8s.io/v1]: the fields whose names differ. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];

function rename(
  event: StoredObject,
  apiVersion: string,
  pairs: readonly (readonly [string, string])[],
): StoredObject {
  const names = new Map(pairs);
  const out: StoredObject = { apiVersion, kind: 'Event', metadata: event.metadata };
  for (const [name, value] of Object.entries(event)) {
    if (name !== 'apiVersion' && name !== 'kind' && name !== 'metadata') out[names.get(name) ?? name] = value;
  }
  return out;
}

export const eventsStorage: StorageAlias = {
  id: kindId('', 'events'),
  toStorage: (event) =>
    rename(
      event,
      'v1',
      RENAMED.map(([core, events]) => [events, core]),
    ),
  fromStorage: (event) => {
    const out = rename(event, 'events.k8s.io/v1', RENAMED);
    for (const field of ['reportingController', 'reportingInstance'])
      if (out[field] === '') delete out[field];
    return out;
  },
};

const asStored = (event: JsonObject): StoredObject => event as unknown as StoredObject;

const asCore = (event: JsonObject): JsonObject =>
  event['apiVersion'] === 'v1' ? event : (eventsStorage.toStorage(asStored(event)) as unknown as JsonObject);

const asNew = (event: JsonObject): JsonObject =>
  event['apiVersion'] === 'v1'
    ? (eventsStorage.fromStorage(asStored(event)) as unknown as JsonObject)
    : event;

/** What each of the two is to the other. */
export const newFace: OtherFace = {
  group: 'events.k8s.io',
  version: 'v1',
  apiVersion: 'events.k8s.io/v1',
  to: asCore,
  from: asNew,
};
export const coreFace: OtherFace = { group: '', version: 'v1', apiVersion: 'v1', to: asNew, from: asCore };

/** What every Event has, if only empty. */
export const eventZero: Record<string, unknown> = {
  involvedObject: {},
  source: {},
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};
export const newEventZero: Record<string, unknown> = { regarding: {}, deprecatedSource: {}, eventTime: null };

/** Fields that are written even when they are empty. */
export function prepareEvent(event: StoredObject): void {
  event['involvedObject'] ??= {};
  event['source'] ??= {};
  event['firstTimestamp'] ??= null;
  event['lastTimestamp'] ??= null;
  event['eventTime'] ??= null;
  event['reportingComponent'] ??= '';
  event['reportingInstance'] ??= '';
}

export function prepareNewEvent(event: StoredObject): void {
  event['regarding'] ??= {};
  event['deprecatedSource'] ??= {};
  event['deprecatedFirstTimestamp'] ??= null;
  event['deprecatedLastTimestamp'] ??= null;
  event['eventTime'] ??= null;
}

/** What a field selector may ask of a new Event. */
export const newEventFields: Record<string, (event: StoredObject) => string> = {
  reason: (event) => text(event['reason']),
  type: (event) => text(event['type']),
  reportingController: (event) => text(event['reportingController']),
  ...Object.fromEntries(
    ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((field) => [
      `regarding.${field}`,
      (event: StoredObject) => text(record(event['regarding'])[field]),
    ]),
  ),
};
