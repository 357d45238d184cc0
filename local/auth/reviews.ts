import { isRecord } from '../object.ts';
import { refuse } from '../rest/status.ts';
import { type Attributes, type RBACAuthorizer, type Rule } from './rbac.ts';
import { type FieldError, fieldErrors } from '../schema/field-error.ts';
import { API_AUDIENCE } from './account-tokens.ts';
import type { Tokens } from './tokens.ts';
import type { User } from './user.ts';

/** Reviews are answered and not stored: what one may do, who one is, whose token this is. */

interface ReviewContext {
  user: User;
  namespace: string | undefined;
  authorizer: RBACAuthorizer;
  tokens: Tokens;
}

type Fields = Record<string, unknown>;
type Review = (spec: Fields, context: ReviewContext) => Fields;

export interface ReviewKind {
  group: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  review: Review;
}

const record = (value: unknown): Fields => (isRecord(value) ? value : {});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

const AUTHORIZATION = 'authorization.k8s.io';
const AUTHENTICATION = 'authentication.k8s.io';

export const REVIEWS: readonly ReviewKind[] = [
  {
    group: AUTHORIZATION,
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    namespaced: false,
    review: (spec, { user, authorizer }) => decide(authorizer, user, spec),
  },
  {
    group: AUTHORIZATION,
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    namespaced: false,
    review: (spec, { authorizer }) => decide(authorizer, subject(spec), spec),
  },
  {
    group: AUTHORIZATION,
    kind: 'LocalSubjectAccessReview',
    plural: 'localsubjectaccessreviews',
    namespaced: true,
    review: (spec, { authorizer, namespace }) => {
      if (text(record(spec['resourceAttributes'])['namespace']) !== (namespace ?? '')) {
        const given = text(record(spec['resourceAttributes'])['namespace']);
        throw refused(
          fieldErrors.invalid('spec.resourceAttributes.namespace', given, 'must match metadata.namespace'),
        );
      }
      return decide(authorizer, subject(spec), spec);
    },
  },
  {
    group: AUTHORIZATION,
    kind: 'SelfSubjectRulesReview',
    plural: 'selfsubjectrulesreviews',
    namespaced: false,
    review: (spec, { user, authorizer }) => {
      const namespace = text(spec['namespace']);
      if (namespace === '') throw refuse.badRequest('no namespace on request');
      return rulesReview(authorizer.rulesFor(user, namespace));
    },
  },
  {
    group: AUTHENTICATION,
    kind: 'TokenReview',
    plural: 'tokenreviews',
    namespaced: false,
    review: (spec, { tokens }) => {
      const token = text(spec['token']);
      if (token === '') throw refuse.badRequest('token is required for TokenReview in authentication');
      const asked = strings(spec['audiences']);
      const audiences = asked.length === 0 ? [API_AUDIENCE] : asked;
      const found = tokens.review(token, audiences);
      return found === undefined
        ? { error: 'the token is not valid', user: {} }
        : { authenticated: true, user: userInfo(found.user), audiences: found.audiences };
    },
  },
  {
    group: AUTHENTICATION,
    kind: 'SelfSubjectReview',
    plural: 'selfsubjectreviews',
    namespaced: false,
    review: (_spec, { user }) => ({ userInfo: userInfo(user) }),
  },
];

function userInfo(user: User): Fields {
  return {
    username: user.name,
    ...(user.uid === '' ? {} : { uid: user.uid }),
    groups: user.groups,
    ...(user.extra === undefined ? {} : { extra: user.extra }),
  };
}

function subject(spec: Fields): User {
  const name = text(spec['user']);
  const groups = strings(spec['groups']);
  if (name === '' && groups.length === 0) {
    throw refused(fieldErrors.invalid('spec.user', '', 'at least one of user or group must be specified'));
  }
  return { name, uid: text(spec['uid']), groups };
}

function decide(authorizer: RBACAuthorizer, user: User, spec: Fields): Fields {
  const { allowed, reason } = authorizer.authorize(user, attributes(spec));
  return { allowed, ...(reason === '' ? {} : { reason }) };
}

const ONE_OF = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';

const refused = (error: FieldError): Error => refuse.invalid(AUTHORIZATION, '', '', [error]);

function attributes(spec: Fields): Attributes {
  const path = spec['nonResourceAttributes'];
  const resource = spec['resourceAttributes'];
  if (isRecord(path) && isRecord(resource))
    throw refused(
      fieldErrors.invalid('spec', { Path: text(path['path']), Verb: text(path['verb']) }, ONE_OF),
    );
  if (isRecord(path)) return { verb: text(path['verb']), path: text(path['path']) };
  if (!isRecord(resource)) throw refused(fieldErrors.invalid('spec', null, ONE_OF));
  return {
    verb: text(resource['verb']),
    group: text(resource['group']),
    resource: text(resource['resource']),
    subresource: text(resource['subresource']),
    namespace: text(resource['namespace']),
    name: text(resource['name']),
  };
}

function rulesReview(rules: Rule[]): Fields {
  return {
    incomplete: false,
    resourceRules: rules
      .filter((rule) => rule.resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames.length === 0 ? {} : { resourceNames }),
      })),
    nonResourceRules: rules
      .filter((rule) => rule.nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
  };
}
