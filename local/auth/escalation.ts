import { isRecord, type StoredObject } from '../object.ts';
import { RBAC_IDS } from '../registry/builtin.ts';
import type { Kind } from '../registry/kind.ts';
import { refuse } from '../rest/status.ts';
import { covers, type RBACAuthorizer, readRule, type Rule } from './rbac.ts';
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
    ? boundRules(authorizer, user, namespace, object)
    : writtenRules(authorizer, user, namespace, kind.plural, object);
  const held = authorizer.rulesFor(user, namespace);
  const missing = granted.filter((rule) => !isHeld(rule, held));
  if (missing.length === 0) return;
  throw refuse.forbidden(
    { group: GROUP, resource: kind.plural },
    object.metadata.name,
    `user ${JSON.stringify(user.name)} (groups=${JSON.stringify(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${missing.map(show).join('\n')}`,
  );
}

function writtenRules(
  authorizer: RBACAuthorizer,
  user: User,
  namespace: string,
  plural: string,
  role: StoredObject,
): Rule[] {
  const may = authorizer.authorize(user, {
    verb: 'escalate',
    group: GROUP,
    resource: plural,
    subresource: '',
    namespace,
    name: role.metadata.name,
  });
  if (may.allowed) return [];
  return (Array.isArray(role['rules']) ? role['rules'] : []).map(readRule);
}

function boundRules(
  authorizer: RBACAuthorizer,
  user: User,
  namespace: string,
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
  if (rules === undefined)
    throw refuse.notFound({ group: GROUP, resource: cluster ? 'clusterroles' : 'roles' }, name);
  return rules;
}

/** Every single permission of the rule is one of some held rule. */
function isHeld(rule: Rule, held: readonly Rule[]): boolean {
  const names = rule.resourceNames.length === 0 ? [''] : rule.resourceNames;
  for (const verb of rule.verbs) {
    for (const path of rule.nonResourceURLs) {
      if (!held.some((each) => covers(each, { verb, path }))) return false;
    }
    for (const group of rule.apiGroups) {
      for (const full of rule.resources) {
        const [resource = '', subresource = ''] = full.split('/');
        for (const name of names) {
          const wanted = { verb, group, resource, subresource, namespace: '', name };
          if (!held.some((each) => covers(each, wanted))) return false;
        }
      }
    }
  }
  return true;
}

function show(rule: Rule): string {
  const parts: [string, string[]][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['ResourceNames', rule.resourceNames],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['Verbs', rule.verbs],
  ];
  return `{${parts
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => `${name}:${JSON.stringify(values)}`)
    .join(', ')}}`;
}
