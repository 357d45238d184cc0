import type { JSONSchemaProps } from '../schema/crd-types.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** One resource of one served version, as far as its documentation goes. */
export interface OpenAPIResource {
  group: string;
  version: string;
  kind: string;
  listKind: string;
  plural: string;
  namespaced: boolean;
  /** Of reviews: only `create`. */
  verbs: readonly Verb[];
  status: boolean;
  /** Of a custom kind: its openAPIV3Schema. Built-in kinds have theirs here. */
  schema?: JSONSchemaProps | undefined;
  /** `.status.nodeName`: the fields that a field selector may name. */
  selectableFields?: readonly string[] | undefined;
}

export const ALL_VERBS: readonly Verb[] = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
];

const AUTHORIZATION = 'authorization.k8s.io';
const AUTHENTICATION = 'authentication.k8s.io';

const review = (group: string, kind: string, plural: string, namespaced = false): OpenAPIResource => ({
  group,
  version: 'v1',
  kind,
  listKind: `${kind}List`,
  plural,
  namespaced,
  verbs: ['create'],
  status: false,
});

/** The questions a client may ask about rights and identity: they are answered and not stored. */
export const reviewResources: readonly OpenAPIResource[] = [
  review(AUTHORIZATION, 'SelfSubjectAccessReview', 'selfsubjectaccessreviews'),
  review(AUTHORIZATION, 'SelfSubjectRulesReview', 'selfsubjectrulesreviews'),
  review(AUTHORIZATION, 'SubjectAccessReview', 'subjectaccessreviews'),
  review(AUTHORIZATION, 'LocalSubjectAccessReview', 'localsubjectaccessreviews', true),
  review(AUTHENTICATION, 'SelfSubjectReview', 'selfsubjectreviews'),
  review(AUTHENTICATION, 'TokenReview', 'tokenreviews'),
];

/** `api/v1`, `apis/holdfast.dev/v1alpha1`: what stands behind /openapi/v3/. */
export function documentPath(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}
