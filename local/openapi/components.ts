import type { JSONSchemaProps } from '../schema/crd-types.ts';
import builtin from './builtin.generated.json' with { type: 'json' };
import type { OpenAPIResource } from './resources.ts';

/** An OpenAPI v3 schema object. */
export type Schema = Record<string, unknown>;

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const schemas: Record<string, Schema> = builtin.schemas;
const roots: Record<string, string> = builtin.roots;

export const ref = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });
export const metaName = (name: string): string => `${META}.${name}`;

/** The component that describes a kind: `dev.holdfast.v1alpha1.Sandbox`, or the built-in kind's own name. */
export function componentName(resource: OpenAPIResource, kind: string): string {
  const { group, version } = resource;
  const own = roots[`${group}/${version}/${kind}`];
  return own ?? `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}

const TYPE_META = {
  apiVersion: {
    description:
      'APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources',
    type: 'string',
  },
  kind: {
    description:
      'Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds',
    type: 'string',
  },
};

function gvk(resource: OpenAPIResource, kind: string): Schema {
  return {
    'x-kubernetes-group-version-kind': [{ group: resource.group, kind, version: resource.version }],
    ...(resource.selectableFields === undefined || resource.selectableFields.length === 0
      ? {}
      : {
          'x-kubernetes-selectable-fields': resource.selectableFields.map((path) => ({
            fieldPath: path.replace(/^\./, ''),
          })),
        }),
  };
}

/** A custom kind's schema as it is published: what every kind has is added, metadata by reference. */
function customSchema(resource: OpenAPIResource): Schema {
  const schema: JSONSchemaProps = resource.schema ?? {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
  };
  return {
    ...schema,
    type: 'object',
    properties: {
      ...schema.properties,
      ...TYPE_META,
      metadata: {
        description:
          "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
        allOf: [ref(metaName('ObjectMeta'))],
      },
    },
    ...gvk(resource, resource.kind),
  };
}

function customList(resource: OpenAPIResource): Schema {
  return {
    description: `${resource.listKind} is a list of ${resource.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...TYPE_META,
      items: {
        description: `List of ${resource.plural}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md`,
        type: 'array',
        items: ref(componentName(resource, resource.kind)),
      },
      metadata: {
        description:
          'Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds',
        allOf: [ref(metaName('ListMeta'))],
      },
    },
    ...gvk(resource, resource.listKind),
  };
}

/** The schemas of a document: those of its resources, and all that they refer to. */
export function components(resources: readonly OpenAPIResource[]): Record<string, Schema> {
  const out: Record<string, Schema> = {};
  for (const resource of resources) {
    const name = componentName(resource, resource.kind);
    const list = componentName(resource, resource.listKind);
    if (Object.hasOwn(schemas, name)) {
      include(name, out);
      include(list, out);
    } else {
      out[name] = customSchema(resource);
      out[list] = customList(resource);
    }
  }
  for (const name of ['DeleteOptions', 'ListMeta', 'ObjectMeta', 'Patch', 'Status'])
    include(metaName(name), out);
  return Object.fromEntries(Object.entries(out).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function include(name: string, out: Record<string, Schema>): void {
  const schema = schemas[name];
  if (schema === undefined || Object.hasOwn(out, name)) return;
  out[name] = schema;
  for (const match of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    include(match[1] ?? '', out);
}

/** The published schema of a built-in kind; undefined for others. */
export function builtinSchema(group: string, version: string, kind: string): Schema | undefined {
  const name = roots[`${group}/${version}/${kind}`];
  return name === undefined ? undefined : schemas[name];
}

/** The schema a `$ref` names. */
export function resolveRef(reference: string): Schema | undefined {
  return schemas[reference.replace('#/components/schemas/', '')];
}
