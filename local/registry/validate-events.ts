import { isRecord, type StoredObject } from '../object.ts';
import { type FieldError, fieldErrors } from '../schema/field-error.ts';
import { deepEqual, type Json } from '../schema/json.ts';
import { isQualifiedName } from '../schema/names.ts';
import { eventsStorage } from './events.ts';

const record = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

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
