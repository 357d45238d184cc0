import { isObject, type Json, type JsonObject, member } from '../schema/json.ts';
import { ageOf } from './age.ts';

export interface ColumnDefinition {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

export interface BuiltinColumn {
  definition: ColumnDefinition;
  cell: (object: JsonObject, now: Date) => Json;
}

const get = (object: Json | undefined, ...path: string[]): Json | undefined =>
  path.reduce<Json | undefined>((at, key) => (isObject(at) ? member(at, key) : undefined), object);
const text = (object: Json | undefined, ...path: string[]): string => {
  const value = get(object, ...path);
  return typeof value === 'string' ? value : '';
};
const count = (value: Json | undefined): number =>
  isObject(value) ? Object.keys(value).length : Array.isArray(value) ? value.length : 0;

export const NAME_DESCRIPTION =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';
export const CREATED_DESCRIPTION =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata';

function column(
  name: string,
  description: string,
  cell: BuiltinColumn['cell'],
  options: { type?: string; format?: string; priority?: number } = {},
): BuiltinColumn {
  return {
    definition: {
      name,
      type: options.type ?? 'string',
      format: options.format ?? '',
      description,
      priority: options.priority ?? 0,
    },
    cell,
  };
}

const wide = { priority: 1 };
const name = column('Name', NAME_DESCRIPTION, (object) => text(object, 'metadata', 'name'), {
  format: 'name',
});
const age = column('Age', CREATED_DESCRIPTION, (object, now) =>
  ageOf(get(object, 'metadata', 'creationTimestamp'), now),
);

/** The column of kinds that say nothing about themselves; its cell is a time, not an age. */
const createdAt = column(
  'Created At',
  CREATED_DESCRIPTION,
  (object) => text(object, 'metadata', 'creationTimestamp'),
  { type: 'date' },
);

const subjects = (object: JsonObject, kind: string): string => {
  const list = get(object, 'subjects');
  if (!Array.isArray(list)) return '';
  return list
    .filter((subject) => text(subject, 'kind') === kind)
    .map((subject) =>
      kind === 'ServiceAccount' && text(subject, 'namespace') !== ''
        ? `${text(subject, 'namespace')}/${text(subject, 'name')}`
        : text(subject, 'name'),
    )
    .join(', ');
};
const binding = (kind: string): BuiltinColumn[] => [
  name,
  column(
    'Role',
    'The role that is granted.',
    (object) => `${text(object, 'roleRef', 'kind')}/${text(object, 'roleRef', 'name')}`,
  ),
  age,
  column('Users', `Users in the ${kind}`, (object) => subjects(object, 'User'), wide),
  column('Groups', `Groups in the ${kind}`, (object) => subjects(object, 'Group'), wide),
  column(
    'ServiceAccounts',
    `ServiceAccounts in the ${kind}`,
    (object) => subjects(object, 'ServiceAccount'),
    wide,
  ),
];

const since = (value: Json | undefined, now: Date): string => ageOf(value, now);
const firstSeen = (object: JsonObject, now: Date): string =>
  since(get(object, 'firstTimestamp') ?? get(object, 'eventTime'), now);

function lastSeen(object: JsonObject, now: Date): string {
  const series = get(object, 'series', 'lastObservedTime');
  if (get(object, 'series') !== undefined) return since(series, now);
  const last = get(object, 'lastTimestamp');
  return last === undefined || last === null ? firstSeen(object, now) : since(last, now);
}

function involved(object: JsonObject): string {
  const kind = text(object, 'involvedObject', 'kind').toLowerCase();
  const target = text(object, 'involvedObject', 'name');
  return target === '' ? kind : `${kind}/${target}`;
}

function source(object: JsonObject): string {
  const component = text(object, 'source', 'component') || text(object, 'reportingComponent');
  const instance = text(object, 'source', 'host') || text(object, 'reportingInstance');
  return instance === '' ? component : `${component}, ${instance}`;
}

function seenCount(object: JsonObject): number {
  const series = get(object, 'series', 'count');
  if (get(object, 'series') !== undefined) return typeof series === 'number' ? series : 0;
  const value = get(object, 'count');
  return typeof value === 'number' && value !== 0 ? value : 1;
}

const event: BuiltinColumn[] = [
  column('Last Seen', 'The time at which the most recent occurrence of this event was recorded.', lastSeen),
  column('Type', 'Type of this event (Normal, Warning), new types could be added in the future', (object) =>
    text(object, 'type'),
  ),
  column('Reason', 'Why, in one word for programs.', (object) => text(object, 'reason')),
  column('Object', 'The object that this event is about.', involved),
  column(
    'Subobject',
    'The part of the object.',
    (object) => text(object, 'involvedObject', 'fieldPath'),
    wide,
  ),
  column('Source', 'Who reported it.', source, wide),
  column('Message', 'What happened, for people.', (object) => text(object, 'message').trim()),
  column(
    'First Seen',
    'The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)',
    firstSeen,
    wide,
  ),
  column('Count', 'The number of times this event has occurred.', seenCount, wide),
  { ...name, definition: { ...name.definition, priority: 1 } },
];

/** The columns of the kinds that the server knows by itself, by `group/kind`. */
const BUILTIN: Record<string, BuiltinColumn[]> = {
  '/Namespace': [
    name,
    column('Status', 'The status of the namespace', (object) => text(object, 'status', 'phase')),
    age,
  ],
  '/Event': event,
  'events.k8s.io/Event': event,
  'coordination.k8s.io/Lease': [
    name,
    column('Holder', 'Who holds the lease.', (object) => text(object, 'spec', 'holderIdentity')),
    age,
  ],
  '/Secret': [
    name,
    column('Type', 'Used to facilitate programmatic handling of secret data.', (object) =>
      text(object, 'type'),
    ),
    column('Data', 'How many entries it has.', (object) => count(get(object, 'data'))),
    age,
  ],
  '/ConfigMap': [
    name,
    column(
      'Data',
      'How many entries it has.',
      (object) => count(get(object, 'data')) + count(get(object, 'binaryData')),
    ),
    age,
  ],
  '/ServiceAccount': [name, age],
  'rbac.authorization.k8s.io/RoleBinding': binding('roleBinding'),
  'rbac.authorization.k8s.io/ClusterRoleBinding': binding('clusterRoleBinding'),
};

export function builtinColumns(group: string, kind: string): BuiltinColumn[] {
  const key = `${group}/${kind}`;
  return (Object.hasOwn(BUILTIN, key) ? BUILTIN[key] : undefined) ?? [name, createdAt];
}
