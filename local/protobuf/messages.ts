/**
 * How a field of a message reads as JSON. Go sends plain strings and numbers even when they are empty, and JSON
 * leaves them out (`omitempty`); behind a pointer (`string?`) an empty value is a value.
 */
export type FieldType =
  | 'string'
  | 'string?'
  | 'int'
  | 'int?'
  | 'bool'
  | 'bool?'
  | 'base64'
  | 'time'
  | 'microtime'
  | 'json'
  | { message: string }
  | { list: 'string' | { message: string } }
  | { map: 'string' | 'base64' | { strings: true } };

export type Message = Record<number, [name: string, type: FieldType]>;

const meta: [string, FieldType] = ['metadata', { message: 'ObjectMeta' }];
const strings: FieldType = { list: 'string' };
const named = (name: string, message: string): [string, FieldType] => [name, { message }];
const listOf = (name: string, message: string): [string, FieldType] => [name, { list: { message } }];

/** Field numbers are those of the generated.proto files of k8s.io/api and k8s.io/apimachinery. */
export const messages: Record<string, Message> = {
  ObjectMeta: {
    1: ['name', 'string'],
    2: ['generateName', 'string'],
    3: ['namespace', 'string'],
    4: ['selfLink', 'string'],
    5: ['uid', 'string'],
    6: ['resourceVersion', 'string'],
    7: ['generation', 'int'],
    8: ['creationTimestamp', 'time'],
    9: ['deletionTimestamp', 'time'],
    10: ['deletionGracePeriodSeconds', 'int?'],
    11: ['labels', { map: 'string' }],
    12: ['annotations', { map: 'string' }],
    13: listOf('ownerReferences', 'OwnerReference'),
    14: ['finalizers', strings],
    17: listOf('managedFields', 'ManagedFieldsEntry'),
  },
  OwnerReference: {
    5: ['apiVersion', 'string'],
    1: ['kind', 'string'],
    3: ['name', 'string'],
    4: ['uid', 'string'],
    6: ['controller', 'bool?'],
    7: ['blockOwnerDeletion', 'bool?'],
  },
  ManagedFieldsEntry: {
    1: ['manager', 'string'],
    2: ['operation', 'string'],
    3: ['apiVersion', 'string'],
    4: ['time', 'time'],
    6: ['fieldsType', 'string'],
    7: named('fieldsV1', 'FieldsV1'),
    8: ['subresource', 'string'],
  },
  FieldsV1: { 1: ['', 'json'] },
  DeleteOptions: {
    1: ['gracePeriodSeconds', 'int?'],
    2: named('preconditions', 'Preconditions'),
    3: ['orphanDependents', 'bool?'],
    4: ['propagationPolicy', 'string?'],
    5: ['dryRun', strings],
  },
  Preconditions: { 1: ['uid', 'string?'], 2: ['resourceVersion', 'string?'] },
  Namespace: { 1: meta, 2: named('spec', 'NamespaceSpec'), 3: named('status', 'NamespaceStatus') },
  NamespaceSpec: { 1: ['finalizers', strings] },
  NamespaceStatus: { 1: ['phase', 'string'] },
  ConfigMap: {
    1: meta,
    2: ['data', { map: 'string' }],
    3: ['binaryData', { map: 'base64' }],
    4: ['immutable', 'bool?'],
  },
  Secret: {
    1: meta,
    2: ['data', { map: 'base64' }],
    3: ['type', 'string'],
    4: ['stringData', { map: 'string' }],
    5: ['immutable', 'bool?'],
  },
  ServiceAccount: {
    1: meta,
    2: listOf('secrets', 'ObjectReference'),
    3: listOf('imagePullSecrets', 'LocalObjectReference'),
    4: ['automountServiceAccountToken', 'bool?'],
  },
  ObjectReference: {
    1: ['kind', 'string'],
    2: ['namespace', 'string'],
    3: ['name', 'string'],
    4: ['uid', 'string'],
    5: ['apiVersion', 'string'],
    6: ['resourceVersion', 'string'],
    7: ['fieldPath', 'string'],
  },
  LocalObjectReference: { 1: ['name', 'string'] },
  Event: {
    1: meta,
    2: named('involvedObject', 'ObjectReference'),
    3: ['reason', 'string'],
    4: ['message', 'string'],
    5: named('source', 'EventSource'),
    6: ['firstTimestamp', 'time'],
    7: ['lastTimestamp', 'time'],
    8: ['count', 'int'],
    9: ['type', 'string'],
    10: ['eventTime', 'microtime'],
    11: named('series', 'EventSeries'),
    12: ['action', 'string'],
    13: named('related', 'ObjectReference'),
    14: ['reportingComponent', 'string'],
    15: ['reportingInstance', 'string'],
  },
  EventSource: { 1: ['component', 'string'], 2: ['host', 'string'] },
  EventSeries: { 1: ['count', 'int'], 2: ['lastObservedTime', 'microtime'] },
  Lease: { 1: meta, 2: named('spec', 'LeaseSpec') },
  LeaseSpec: {
    1: ['holderIdentity', 'string?'],
    2: ['leaseDurationSeconds', 'int?'],
    3: ['acquireTime', 'microtime'],
    4: ['renewTime', 'microtime'],
    5: ['leaseTransitions', 'int?'],
    6: ['strategy', 'string?'],
    7: ['preferredHolder', 'string?'],
  },
  SelfSubjectAccessReview: { 1: meta, 2: named('spec', 'SelfSubjectAccessReviewSpec') },
  SelfSubjectAccessReviewSpec: {
    1: named('resourceAttributes', 'ResourceAttributes'),
    2: named('nonResourceAttributes', 'NonResourceAttributes'),
  },
  SubjectAccessReview: { 1: meta, 2: named('spec', 'SubjectAccessReviewSpec') },
  LocalSubjectAccessReview: { 1: meta, 2: named('spec', 'SubjectAccessReviewSpec') },
  SubjectAccessReviewSpec: {
    1: named('resourceAttributes', 'ResourceAttributes'),
    2: named('nonResourceAttributes', 'NonResourceAttributes'),
    3: ['user', 'string'],
    4: ['groups', strings],
    5: ['extra', { map: { strings: true } }],
    6: ['uid', 'string'],
  },
  ResourceAttributes: {
    1: ['namespace', 'string'],
    2: ['verb', 'string'],
    3: ['group', 'string'],
    4: ['version', 'string'],
    5: ['resource', 'string'],
    6: ['subresource', 'string'],
    7: ['name', 'string'],
    8: named('fieldSelector', 'SelectorAttributes'),
    9: named('labelSelector', 'SelectorAttributes'),
  },
  SelectorAttributes: { 1: ['rawSelector', 'string'], 2: listOf('requirements', 'SelectorRequirement') },
  SelectorRequirement: { 1: ['key', 'string'], 2: ['operator', 'string'], 3: ['values', strings] },
  NonResourceAttributes: { 1: ['path', 'string'], 2: ['verb', 'string'] },
  SelfSubjectRulesReview: { 1: meta, 2: named('spec', 'SelfSubjectRulesReviewSpec') },
  SelfSubjectRulesReviewSpec: { 1: ['namespace', 'string'] },
  SelfSubjectReview: { 1: meta },
  Role: { 1: meta, 2: listOf('rules', 'PolicyRule') },
  ClusterRole: { 1: meta, 2: listOf('rules', 'PolicyRule'), 3: named('aggregationRule', 'AggregationRule') },
  RoleBinding: { 1: meta, 2: listOf('subjects', 'Subject'), 3: named('roleRef', 'RoleRef') },
  ClusterRoleBinding: { 1: meta, 2: listOf('subjects', 'Subject'), 3: named('roleRef', 'RoleRef') },
  PolicyRule: {
    1: ['verbs', strings],
    2: ['apiGroups', strings],
    3: ['resources', strings],
    4: ['resourceNames', strings],
    5: ['nonResourceURLs', strings],
  },
  Subject: {
    1: ['kind', 'string'],
    2: ['apiGroup', 'string'],
    3: ['name', 'string'],
    4: ['namespace', 'string'],
  },
  RoleRef: { 1: ['apiGroup', 'string'], 2: ['kind', 'string'], 3: ['name', 'string'] },
  AggregationRule: { 1: listOf('clusterRoleSelectors', 'LabelSelector') },
  LabelSelector: {
    1: ['matchLabels', { map: 'string' }],
    2: listOf('matchExpressions', 'SelectorRequirement'),
  },
};

/** The kinds that may stand at the top of a body, by `apiVersion/kind`; DeleteOptions may under every version. */
export const kinds: Record<string, string> = Object.fromEntries(
  [
    ['v1', 'Namespace', 'ConfigMap', 'Secret', 'ServiceAccount', 'Event'],
    ['coordination.k8s.io/v1', 'Lease'],
    [
      'authorization.k8s.io/v1',
      'SelfSubjectAccessReview',
      'SubjectAccessReview',
      'LocalSubjectAccessReview',
      'SelfSubjectRulesReview',
    ],
    ['authentication.k8s.io/v1', 'SelfSubjectReview'],
    ['rbac.authorization.k8s.io/v1', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'],
  ].flatMap(([version = '', ...names]) => names.map((name) => [`${version}/${name}`, name])),
);
