import { isRecord, type StoredObject } from '../object.ts';
import { kindId, type StorageAlias } from './kind.ts';

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
  fromStorage: (event) => rename(event, 'events.k8s.io/v1', RENAMED),
};
