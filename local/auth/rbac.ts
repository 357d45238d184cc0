import { isRecord, type StoredObject } from '../object.ts';
import { RBAC_IDS } from '../registry/builtin.ts';
import { kindId } from '../registry/kind.ts';
import type { Store } from '../store/store.ts';
import { MASTERS, type User } from './user.ts';

/** What somebody wants to do: with a resource, or with a path. */
export type Attributes = ResourceAttributes | PathAttributes;

export interface ResourceAttributes {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
}

interface PathAttributes {
  verb: string;
  path: string;
}

export interface Rule {
  verbs: string[];
  apiGroups: string[];
  resources: string[];
  resourceNames: string[];
  nonResourceURLs: string[];
}

export interface Decision {
  allowed: boolean;
  /** What allows it; of a refusal, what could not be looked at. */
  reason: string;
}

interface Binding {
  name: string;
  namespace: string;
  kind: string;
  role: { kind: string; name: string };
  subjects: { kind: string; name: string; namespace: string }[];
}

const RBAC = 'rbac.authorization.k8s.io';
const id = (plural: string): string => kindId(RBAC, plural);

/** Decides from the RBAC objects that are stored. They are few and are kept parsed until one changes. */
export class RBACAuthorizer {
  readonly #store: Store;
  #bindings: Binding[] | undefined;
  #rules = new Map<string, Rule[]>();

  constructor(store: Store) {
    this.#store = store;
    store.subscribe((changes) => {
      if (!changes.some((change) => RBAC_IDS.has(change.resource))) return;
      this.#bindings = undefined;
      this.#rules = new Map();
    });
  }

  authorize(user: User, attributes: Attributes): Decision {
    // As on a kube-apiserver, this group cannot be locked out by what is stored.
    if (user.groups.includes(MASTERS)) return { allowed: true, reason: '' };
    const namespace = 'path' in attributes ? '' : attributes.namespace;
    const missing: string[] = [];
    for (const binding of this.#bindingsFor(user, namespace)) {
      const rules = this.#rulesOf(binding);
      if (rules === undefined) missing.push(missingRole(binding));
      else if (rules.some((rule) => covers(rule, attributes)))
        return { allowed: true, reason: grantedBy(binding, user) };
    }
    const [first] = missing;
    if (first === undefined) return { allowed: false, reason: '' };
    return {
      allowed: false,
      reason: `rbac: RBAC: ${missing.length === 1 ? first : `[${missing.join(', ')}]`}`,
    };
  }

  /** Every rule that holds for a user in a namespace. */
  rulesFor(user: User, namespace: string): Rule[] {
    if (user.groups.includes(MASTERS)) return [...EVERYTHING];
    return this.#bindingsFor(user, namespace).flatMap((binding) => this.#rulesOf(binding) ?? []);
  }

  #bindingsFor(user: User, namespace: string): Binding[] {
    this.#bindings ??= this.#load();
    return this.#bindings.filter(
      (binding) =>
        (binding.namespace === '' || binding.namespace === namespace) &&
        binding.subjects.some((subject) => isSubject(user, subject)),
    );
  }

  #load(): Binding[] {
    return ['clusterrolebindings', 'rolebindings'].flatMap((plural) =>
      this.#store
        .page(id(plural), { prefix: '', limit: -1 })
        .map((row) => readBinding(JSON.parse(row.body) as StoredObject)),
    );
  }

  /** The rules of a role; undefined where there is no such role. `namespace` is that of a Role. */
  rulesOfRole(kind: 'ClusterRole' | 'Role', namespace: string, name: string): Rule[] | undefined {
    const cluster = kind === 'ClusterRole';
    const key = cluster ? name : `${namespace}/${name}`;
    const cacheKey = `${kind} ${key}`;
    const known = this.#rules.get(cacheKey);
    if (known !== undefined) return known;
    const role = this.#store.get(id(cluster ? 'clusterroles' : 'roles'), key);
    if (role === undefined) return undefined;
    const rules = (Array.isArray(role['rules']) ? role['rules'] : []).map(readRule);
    this.#rules.set(cacheKey, rules);
    return rules;
  }

  #rulesOf(binding: Binding): Rule[] | undefined {
    const kind = binding.role.kind === 'ClusterRole' ? 'ClusterRole' : 'Role';
    return this.rulesOfRole(kind, binding.namespace, binding.role.name);
  }
}

const EVERYTHING: readonly Rule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function readRule(value: unknown): Rule {
  const rule = isRecord(value) ? value : {};
  return {
    verbs: strings(rule['verbs']),
    apiGroups: strings(rule['apiGroups']),
    resources: strings(rule['resources']),
    resourceNames: strings(rule['resourceNames']),
    nonResourceURLs: strings(rule['nonResourceURLs']),
  };
}

function readBinding(object: StoredObject): Binding {
  const role = isRecord(object['roleRef']) ? object['roleRef'] : {};
  const subjects = Array.isArray(object['subjects']) ? object['subjects'] : [];
  return {
    name: object.metadata.name,
    namespace: object.metadata.namespace ?? '',
    kind: object.kind,
    role: { kind: text(role['kind']), name: text(role['name']) },
    subjects: subjects.filter(isRecord).map((subject) => ({
      kind: text(subject['kind']),
      name: text(subject['name']),
      namespace: text(subject['namespace']),
    })),
  };
}

function isSubject(user: User, subject: Binding['subjects'][number]): boolean {
  if (subject.kind === 'User') return user.name === subject.name;
  if (subject.kind === 'Group') return user.groups.includes(subject.name);
  return user.name === `system:serviceaccount:${subject.namespace}:${subject.name}`;
}

function missingRole({ role }: Binding): string {
  const kind = role.kind === 'ClusterRole' ? 'clusterrole' : 'role';
  return `${kind}.${RBAC} ${JSON.stringify(role.name)} not found`;
}

function grantedBy(binding: Binding, user: User): string {
  const where = binding.namespace === '' ? binding.name : `${binding.name}/${binding.namespace}`;
  return `RBAC: allowed by ${binding.kind} ${JSON.stringify(where)} of ${binding.role.kind} ${JSON.stringify(binding.role.name)} to ${shownSubject(binding, user)}`;
}

function shownSubject(binding: Binding, user: User): string {
  const subject = binding.subjects.find((each) => isSubject(user, each));
  const { kind = '', name = '', namespace = '' } = subject ?? {};
  const full = kind === 'ServiceAccount' && namespace !== '' ? `${name}/${namespace}` : name;
  return `${kind} ${JSON.stringify(full)}`;
}

export function covers(rule: Rule, wanted: Attributes): boolean {
  if (!rule.verbs.includes('*') && !rule.verbs.includes(wanted.verb)) return false;
  if ('path' in wanted) {
    return rule.nonResourceURLs.some(
      (url) =>
        url === '*' || url === wanted.path || (url.endsWith('*') && wanted.path.startsWith(url.slice(0, -1))),
    );
  }
  if (!rule.apiGroups.includes('*') && !rule.apiGroups.includes(wanted.group)) return false;
  const resource = wanted.subresource === '' ? wanted.resource : `${wanted.resource}/${wanted.subresource}`;
  const named = rule.resources.some(
    (each) =>
      each === '*' || each === resource || (wanted.subresource !== '' && each === `*/${wanted.subresource}`),
  );
  if (!named) return false;
  return rule.resourceNames.length === 0 || (wanted.name !== '' && rule.resourceNames.includes(wanted.name));
}

/** Why a request is refused, as a kube-apiserver says it. */
export function denial(user: User, wanted: Attributes, decision?: Decision): string {
  const reason = decision?.reason ?? '';
  return `${refusal(user, wanted)}${reason === '' ? '' : `: ${reason}`}`;
}

function refusal(user: User, wanted: Attributes): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${wanted.verb}`;
  if ('path' in wanted) return `${who} path ${JSON.stringify(wanted.path)}`;
  const resource = wanted.subresource === '' ? wanted.resource : `${wanted.resource}/${wanted.subresource}`;
  const where =
    wanted.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(wanted.namespace)}`;
  return `${who} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(wanted.group)} ${where}`;
}
