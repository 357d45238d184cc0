import type { IncomingHttpHeaders } from 'node:http';
import { refuse } from '../rest/status.ts';
import { denial, type RBACAuthorizer, type ResourceAttributes } from './rbac.ts';
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, type User } from './user.ts';

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/**
 * Who the request is to count for: with Impersonate-User, -Group and -Uid somebody else, where the one who asks
 * may `impersonate` each of them. Throws 400 and 403.
 */
export function impersonate(authorizer: RBACAuthorizer, user: User, headers: IncomingHttpHeaders): User {
  const name = single(headers['impersonate-user']);
  const groups = list(headers['impersonate-group']);
  const uid = single(headers['impersonate-uid']);
  const extra = extraOf(headers);
  if (name === undefined) {
    if (groups.length === 0 && uid === undefined && extra === undefined) return user;
    throw refuse.badRequest(`requested ${shown(uid, groups)} without impersonating a user name`);
  }
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
  for (const [key, values] of Object.entries(extra ?? {}))
    for (const value of values)
      demand(authorizer, user, {
        group: 'authentication.k8s.io',
        resource: 'userextras',
        subresource: key,
        name: value,
      });
  return {
    name,
    uid: uid ?? '',
    groups: withDefaults(name, groups, account),
    ...(extra === undefined ? {} : { extra }),
  };
}

function withDefaults(name: string, groups: string[], account: RegExpExecArray | null): string[] {
  if (name === ANONYMOUS.name && groups.length === 0) return [...ANONYMOUS.groups];
  if (groups.includes(UNAUTHENTICATED)) return groups;
  const own =
    groups.length > 0 || account === null
      ? groups
      : ['system:serviceaccounts', `system:serviceaccounts:${account[1] ?? ''}`];
  return [...new Set([...own, AUTHENTICATED])];
}

const EXTRA = 'impersonate-extra-';

function extraOf(headers: IncomingHttpHeaders): Record<string, string[]> | undefined {
  const found = Object.keys(headers).filter((header) => header.startsWith(EXTRA));
  if (found.length === 0) return undefined;
  return Object.fromEntries(
    found.map((header) => [unescaped(header.slice(EXTRA.length)), list(headers[header])]),
  );
}

/** What a header's name cannot have is escaped in it. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function shown(uid: string | undefined, groups: string[]): string {
  const texts =
    groups.length === 0
      ? '[]string(nil)'
      : `[]string{${groups.map((each) => JSON.stringify(each)).join(', ')}}`;
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid ?? '')}, Groups:${texts}, Extra:map[string][]string(nil)}`;
}

function demand(
  authorizer: RBACAuthorizer,
  user: User,
  target: { resource: string; name: string; namespace?: string; group?: string; subresource?: string },
): void {
  const wanted: ResourceAttributes = {
    verb: 'impersonate',
    group: target.group ?? '',
    resource: target.resource,
    subresource: target.subresource ?? '',
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
