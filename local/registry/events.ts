import { isRecord, type StoredObject } from '../object.ts';
import { type FieldError, fieldErrors } from '../schema/field-error.ts';
import { deepEqual, type Json, type JsonObject } from '../schema/json.ts';
import { isQualifiedName } from '../schema/names.ts';
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

const isNew = (event: StoredObject): boolean => typeof event['eventTime'] === 'string';

/**
 * An Event stands where its object does; one about an object without a namespace stands in `default`, a new one
 * in `kube-system` as well. A new one may stand beside an object of another namespace.
 */
function namespaceMismatch(event: StoredObject): FieldError[] {
  const namespace = text(record(event['involvedObject'])['namespace']);
  const own = event.metadata.namespace ?? '';
  const fits =
    namespace === ''
      ? own === 'default' || own === (isNew(event) ? 'kube-system' : '')
      : isNew(event) || namespace === own;
  return fits
    ? []
    : [fieldErrors.invalid('involvedObject.namespace', namespace, 'does not match event.namespace')];
}

const MAX_FIELD = 128;
const MAX_NOTE = 1024;

function required(event: StoredObject, field: string): FieldError[] {
  const value = text(event[field]);
  if (value === '') return [fieldErrors.required(field)];
  return value.length > MAX_FIELD
    ? [fieldErrors.invalid(field, '', `can have at most ${MAX_FIELD} characters`)]
    : [];
}

function validReporter(event: StoredObject, name: string): FieldError[] {
  const reporter = text(event['reportingComponent']);
  return [
    ...(reporter === '' ? [fieldErrors.required(name)] : []),
    ...isQualifiedName(reporter).map((why) => fieldErrors.invalid(name, reporter, why)),
  ];
}

/** What both groups ask for; `reporter` is what the group calls the reporting component. */
function validateStored(event: StoredObject, reporter: string): FieldError[] {
  const errors = namespaceMismatch(event);
  if (!isNew(event)) return errors;
  return [
    ...errors,
    ...validReporter(event, reporter),
    ...required(event, 'reportingInstance'),
    ...required(event, 'action'),
    ...required(event, 'reason'),
    ...(text(event['message']).length > MAX_NOTE
      ? [fieldErrors.invalid('message', '', `can have at most ${MAX_NOTE} characters`)]
      : []),
  ];
}

export function validateEvent(event: StoredObject): FieldError[] {
  return validateStored(event, 'reportingComponent');
}

/** What events.k8s.io asks for beyond that; its refusals name the fields as they are stored. */
export function validateNewEvent(event: StoredObject, old: StoredObject | undefined): FieldError[] {
  const stored = eventsStorage.toStorage(event);
  const errors = validateStored(stored, 'reportingController');
  if (old === undefined) return [...errors, ...validateCreated(stored)];
  const before = eventsStorage.toStorage(old);
  const series = same(stored['series'], before['series']) ? [] : validateSeries(stored);
  return [...errors, ...series, ...validateUnchanged(stored, before)];
}

function validateSeries(event: StoredObject): FieldError[] {
  const series = event['series'];
  if (!isRecord(series)) return [];
  const count = series['count'];
  return [
    ...(typeof count === 'number' && count >= 2
      ? []
      : [fieldErrors.invalid('series.count', '', 'should be at least 2')]),
    ...(typeof series['lastObservedTime'] === 'string'
      ? []
      : [fieldErrors.required('series.lastObservedTime')]),
  ];
}

function validateCreated(event: StoredObject): FieldError[] {
  const type = text(event['type']);
  const source = record(event['source']);
  const set: [string, boolean][] = [
    ['firstTimestamp', typeof event['firstTimestamp'] === 'string'],
    ['lastTimestamp', typeof event['lastTimestamp'] === 'string'],
    ['count', (event['count'] ?? 0) !== 0],
    ['source', text(source['component']) !== '' || text(source['host']) !== ''],
  ];
  return [
    ...validateSeries(event),
    ...(isNew(event) ? [] : [fieldErrors.required('eventTime')]),
    ...(type === 'Normal' || type === 'Warning'
      ? []
      : [fieldErrors.invalid('type', '', `has invalid value: ${type}`)]),
    ...set.filter(([, is]) => is).map(([field]) => fieldErrors.invalid(field, '', 'needs to be unset')),
  ];
}

/** All but the series: an Event tells what has been. */
const FIXED: readonly string[] = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
];

function validateUnchanged(event: StoredObject, before: StoredObject): FieldError[] {
  const changed = (field: string): boolean => !same(event[field], before[field]);
  const immutable = (name: string, value: unknown): FieldError =>
    fieldErrors.invalid(name, (value ?? '') as Json, 'field is immutable');
  return [
    ...FIXED.filter(changed).map((field) => immutable(field, event[field])),
    ...(changed('reportingComponent') ? [immutable('reportingController', event['reportingComponent'])] : []),
    ...(changed('reportingInstance') ? [immutable('reportingInstance', event['reportingInstance'])] : []),
  ];
}

const same = (a: unknown, b: unknown): boolean => deepEqual((a ?? null) as Json, (b ?? null) as Json);

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
