import type { IncomingHttpHeaders } from 'node:http';
import { refuse } from '../rest/status.ts';
import { denial, type RBACAuthorizer, type ResourceAttributes } from './rbac.ts';
import { AUTHENTICATED, type User } from './user.ts';

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/**
 * Who the request is to count for: with Impersonate-User, -Group and -Uid somebody else, where the one who asks
 * may `impersonate` each of them. Throws 400 and 403. Extra attributes are refused: nothing here has a use for them.
 */
export function impersonate(authorizer: RBACAuthorizer, user: User, headers: IncomingHttpHeaders): User {
  const name = single(headers['impersonate-user']);
  const groups = list(headers['impersonate-group']);
  const uid = single(headers['impersonate-uid']);
  const extra = Object.keys(headers).find((header) => header.startsWith('impersonate-extra-'));
  if (name === undefined) {
    if (groups.length === 0 && uid === undefined && extra === undefined) return user;
    throw refuse.badRequest('requested groups or uid without impersonating a user');
  }
  if (extra !== undefined) throw refuse.badRequest(`the header ${extra} is not supported`);
  const account = SERVICE_ACCOUNT.exec(name);
  if (account === null) demand(authorizer, user, { resource: 'users', name });
  else
    demand(authorizer, user, {
      resource: 'serviceaccounts',
      name: account[2] ?? '',
      namespace: account[1] ?? '',
    });
  for (const group of groups) demand(authorizer, user, { resource: 'groups', name: group });
  if (uid !== undefined)
    demand(authorizer, user, { group: 'authentication.k8s.io', resource: 'uids', name: uid });
  return { name, uid: uid ?? '', groups: [...new Set([...withDefaults(groups, account), AUTHENTICATED])] };
}

function withDefaults(groups: string[], account: RegExpExecArray | null): string[] {
  if (groups.length > 0 || account === null) return groups;
  return ['system:serviceaccounts', `system:serviceaccounts:${account[1] ?? ''}`];
}

function demand(
  authorizer: RBACAuthorizer,
  user: User,
  target: { resource: string; name: string; namespace?: string; group?: string },
): void {
  const wanted: ResourceAttributes = {
    verb: 'impersonate',
    group: target.group ?? '',
    resource: target.resource,
    subresource: '',
    namespace: target.namespace ?? '',
    name: target.name,
  };
  if (authorizer.authorize(user, wanted).allowed) return;
  throw refuse.forbidden(
    { group: wanted.group, resource: wanted.resource },
    target.name,
    denial(user, wanted),
  );
}

function single(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value[0] : value;
  return text === undefined || text === '' ? undefined : text;
}

/** Node joins a header that comes more than once. */
function list(value: string | string[] | undefined): string[] {
  const text = Array.isArray(value) ? value : (value ?? '').split(',');
  return text.map((part) => part.trim()).filter((part) => part !== '');
}
