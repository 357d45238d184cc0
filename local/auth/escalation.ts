import { isRecord, type StoredObject } from '../object.ts';
import { RBAC_IDS } from '../registry/builtin.ts';
import type { Kind } from '../registry/kind.ts';
import { refuse } from '../rest/status.ts';
import {
  type Attributes,
  covers,
  type RBACAuthorizer,
  readRule,
  type ResourceAttributes,
  type Rule,
} from './rbac.ts';
import { MASTERS, type User } from './user.ts';

const GROUP = 'rbac.authorization.k8s.io';

/**
 * Nobody can give what they do not hold: the rules of a role that is written, or of the role that is bound, must
 * all be the writer's own already, unless the writer may `escalate`, or `bind` that role. Throws 403.
 */
export function refuseEscalation(
  authorizer: RBACAuthorizer,
  request: { user: User; kind: Kind; namespace: string | undefined },
  object: StoredObject,
): void {
  const { user, kind } = request;
  const namespace = request.namespace ?? '';
  if (!RBAC_IDS.has(kind.id) || user.groups.includes(MASTERS)) return;
  const granted = kind.plural.endsWith('bindings')
    ? boundRules(authorizer, user, namespace, kind.plural, object)
    : writtenRules(authorizer, user, namespace, kind.plural, object);
  const held = authorizer.rulesFor(user, namespace);
  const missing = granted
    .flatMap((rule) => singleRights(rule))
    .filter(({ wanted }) => !held.some((each) => covers(each, wanted)));
  if (missing.length === 0) {
    refuseAggregation(authorizer, request, object, held);
    return;
  }
  throw refuse.forbidden(
    { group: GROUP, resource: kind.plural },
    object.metadata.name,
    `user ${JSON.stringify(user.name)} (groups=${quoted(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${summary(missing).join('\n')}`,
  );
}

/** A role that takes the rules of others may come to anything, so that it is for those who may do everything. */
function refuseAggregation(
  authorizer: RBACAuthorizer,
  { user, kind }: { user: User; kind: Kind },
  role: StoredObject,
  held: readonly Rule[],
): void {
  const rule = role['aggregationRule'];
  const selectors = isRecord(rule) ? rule['clusterRoleSelectors'] : undefined;
  if (
    !Array.isArray(selectors) ||
    selectors.length === 0 ||
    mayEscalate(authorizer, user, '', kind.plural, role)
  )
    return;
  const everything: Attributes[] = [
    { verb: '*', group: '*', resource: '*', subresource: '', namespace: '', name: '' },
    { verb: '*', path: '*' },
  ];
  if (everything.every((wanted) => held.some((each) => covers(each, wanted)))) return;
  throw refuse.forbidden(
    { group: GROUP, resource: kind.plural },
    role.metadata.name,
    'must have cluster-admin privileges to use the aggregationRule',
  );
}

function writtenRules(
  authorizer: RBACAuthorizer,
  user: User,
  namespace: string,
  plural: string,
  role: StoredObject,
): Rule[] {
  if (mayEscalate(authorizer, user, namespace, plural, role)) return [];
  return (Array.isArray(role['rules']) ? role['rules'] : []).map(readRule);
}

function mayEscalate(
  authorizer: RBACAuthorizer,
  user: User,
  namespace: string,
  plural: string,
  role: StoredObject,
): boolean {
  return authorizer.authorize(user, {
    verb: 'escalate',
    group: GROUP,
    resource: plural,
    subresource: '',
    namespace,
    name: role.metadata.name,
  }).allowed;
}

function boundRules(
  authorizer: RBACAuthorizer,
  user: User,
  namespace: string,
  plural: string,
  binding: StoredObject,
): Rule[] {
  const ref = isRecord(binding['roleRef']) ? binding['roleRef'] : {};
  const name = typeof ref['name'] === 'string' ? ref['name'] : '';
  const cluster = ref['kind'] === 'ClusterRole';
  const may = authorizer.authorize(user, {
    verb: 'bind',
    group: GROUP,
    resource: cluster ? 'clusterroles' : 'roles',
    subresource: '',
    namespace,
    name,
  });
  if (may.allowed) return [];
  const rules = authorizer.rulesOfRole(cluster ? 'ClusterRole' : 'Role', namespace, name);
  // A role that is not there yet could become any role.
  if (rules === undefined) throw refuse.notFound({ group: GROUP, resource: plural }, name);
  return rules;
}

/** One permission of a rule: one verb on one resource, of one name where the rule has names, or on one path. */
interface Right {
  verb: string;
  wanted: Attributes;
}

function singleRights(rule: Rule): Right[] {
  const names = rule.resourceNames.length === 0 ? [''] : rule.resourceNames;
  return rule.verbs.flatMap((verb) => [
    ...rule.apiGroups.flatMap((group) =>
      rule.resources.flatMap((full) => {
        const [resource = '', subresource = ''] = full.split('/');
        return names.map((name) => ({
          verb,
          wanted: { verb, group, resource, subresource, namespace: '', name },
        }));
      }),
    ),
    ...rule.nonResourceURLs.map((path) => ({ verb, wanted: { verb, path } })),
  ]);
}

/** The rights as rules, those on one resource together. */
function summary(rights: readonly Right[]): string[] {
  const verbs = new Map<string, string[]>();
  for (const { verb, wanted } of rights) {
    const what = 'path' in wanted ? `NonResourceURLs:${quoted([wanted.path])}` : onResource(wanted);
    // Rights on paths stand alone.
    const key = 'path' in wanted ? `${what} ${verb}` : what;
    verbs.set(key, [...(verbs.get(key) ?? []), verb]);
  }
  return [...verbs]
    .map(([key, of]) => {
      const what = key.startsWith('NonResourceURLs') ? key.slice(0, key.lastIndexOf(' ')) : key;
      return `{${what}, Verbs:${quoted([...new Set(of)])}}`;
    })
    .sort();
}

function onResource({ group, resource, subresource, name }: ResourceAttributes): string {
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const names = name === '' ? '' : `, ResourceNames:${quoted([name])}`;
  return `APIGroups:${quoted([group])}, Resources:${quoted([full])}${names}`;
}

/** As Go quotes a list. */
const quoted = (texts: readonly string[]): string =>
  `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;
