import { describe, expect, it } from 'vitest';
import { openAPIDocument, openAPIRoot } from './documents.ts';
import { ALL_VERBS, type OpenAPIResource, reviewResources } from './resources.ts';

const thing: OpenAPIResource = {
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  listKind: 'ThingList',
  plural: 'things',
  namespaced: true,
  verbs: ALL_VERBS,
  status: true,
  selectableFields: ['.spec.a'],
  schema: {
    type: 'object',
    description: 'A thing.',
    properties: { spec: { type: 'object', properties: { a: { type: 'string', description: 'An a.' } } } },
  },
};
const namespace: OpenAPIResource = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  listKind: 'NamespaceList',
  plural: 'namespaces',
  namespaced: false,
  verbs: ALL_VERBS,
  status: true,
};
const all = [...reviewResources, thing, namespace];

interface Document {
  paths: Record<string, Record<string, { parameters?: { name: string }[] } & Record<string, unknown>>>;
  components: { schemas: Record<string, { properties?: Record<string, unknown> } & Record<string, unknown>> };
}
const document = (path: string): Document => openAPIDocument(path, all) as Document;

describe('openAPIRoot', () => {
  it('[K1] names a document for each group version, under an address that changes with it', () => {
    const { paths } = openAPIRoot(all);
    expect(Object.keys(paths)).toEqual([
      'api/v1',
      'apis/authentication.k8s.io/v1',
      'apis/authorization.k8s.io/v1',
      'apis/example.com/v1',
    ]);
    const changed = openAPIRoot([
      ...reviewResources,
      { ...thing, schema: { type: 'object' } },
      namespace,
    ]).paths;
    expect(changed['apis/example.com/v1']).not.toEqual(paths['apis/example.com/v1']);
    expect(changed['api/v1']).toEqual(paths['api/v1']);
  });
});

describe('openAPIDocument', () => {
  it('[K1] has what kubectl explain reads of a custom kind', () => {
    const { components, paths } = document('apis/example.com/v1');
    const schema = components.schemas['com.example.v1.Thing'];
    expect(schema?.['x-kubernetes-group-version-kind']).toEqual([
      { group: 'example.com', kind: 'Thing', version: 'v1' },
    ]);
    expect(Object.keys(schema?.properties ?? {}).sort()).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    expect(paths['/apis/example.com/v1/namespaces/{namespace}/things']?.['get']).toMatchObject({
      'x-kubernetes-action': 'list',
      'x-kubernetes-group-version-kind': { group: 'example.com', version: 'v1', kind: 'Thing' },
    });
  });

  it('[K1] has the fieldValidation parameter at PATCH, by which kubectl leaves validation to the server', () => {
    const patch =
      document('apis/example.com/v1').paths['/apis/example.com/v1/namespaces/{namespace}/things/{name}']?.[
        'patch'
      ];
    expect(patch?.parameters?.map(({ name }) => name)).toContain('fieldValidation');
  });

  it('[K1] offers only creation of a review', () => {
    const { paths } = document('apis/authorization.k8s.io/v1');
    const item = paths['/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'];
    expect(Object.keys(item ?? {}).sort()).toEqual(['parameters', 'post']);
  });

  it.each(['api/v1', 'apis/example.com/v1', 'apis/authorization.k8s.io/v1', 'apis/authentication.k8s.io/v1'])(
    '[K1] every reference in %s leads somewhere',
    (path) => {
      const found = document(path);
      for (const match of JSON.stringify(found).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
        expect(found.components.schemas).toHaveProperty([match[1] ?? '']);
    },
  );

  it('[K1] there is none for what is not served', () => {
    expect(openAPIDocument('apis/other.com/v1', all)).toBeUndefined();
  });
});
