import { GROUP, VERSION } from './group.ts';
import { sandboxNodeSpecSchema, sandboxNodeStatusSchema } from './sandbox-node.ts';
import { sandboxSpecSchema, sandboxStatusSchema } from './sandbox.ts';
import { structuralSchema, type StructuralSchema } from './structural-schema.ts';

interface PrinterColumn {
  name: string;
  type: 'string' | 'integer' | 'date' | 'boolean' | 'number';
  jsonPath: string;
  description: string;
  /** Above 0: only with `-o wide`. */
  priority?: number;
}

/** `apiextensions.k8s.io/v1` CustomResourceDefinition, as far as ours go. */
export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string };
  spec: {
    group: string;
    scope: 'Namespaced' | 'Cluster';
    names: {
      plural: string;
      singular: string;
      kind: string;
      listKind: string;
      shortNames: string[];
      categories: string[];
    };
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      schema: { openAPIV3Schema: StructuralSchema };
      subresources: { status: Record<string, never> };
      additionalPrinterColumns: PrinterColumn[];
      selectableFields?: { jsonPath: string }[];
    }[];
  };
}

/** The definitions of every kind, as plain JSON objects. */
export function crdManifests(): CustomResourceDefinition[] {
  return [sandboxes(), sandboxNodes()];
}

function sandboxes(): CustomResourceDefinition {
  return definition({
    kind: 'Sandbox',
    plural: 'sandboxes',
    shortName: 'hsb',
    scope: 'Namespaced',
    description:
      'A container on a node, retained or run to completion, whose limits hold or which does not start.',
    spec: structuralSchema(sandboxSpecSchema),
    specRequired: true,
    status: structuralSchema(sandboxStatusSchema),
    columns: [
      column('Phase', '.status.phase', 'A summary of the state.'),
      column('Ready', condition('Ready', 'status'), 'Whether it is ready.'),
      column('Reason', condition('Ready', 'reason'), 'Why it is ready or not.'),
      column('Node', '.status.nodeName', 'The node that has it.'),
      column('Limits', '.status.limits.summary', 'The limits in force.'),
      column('Image', '.spec.image', 'The image.', 1),
      column('Runtime', '.status.runtime', 'The runtime that has it.', 1),
      column('Last Cause', '.status.lastTermination.cause', 'Why its last launch ended.', 1),
      column(
        'Exit Code',
        '.status.lastTermination.exitCode',
        'The exit code of its last launch.',
        1,
        'integer',
      ),
      age,
    ],
    selectable: ['.status.nodeName'],
  });
}

function sandboxNodes(): CustomResourceDefinition {
  return definition({
    kind: 'SandboxNode',
    plural: 'sandboxnodes',
    shortName: 'hsn',
    scope: 'Cluster',
    description: 'A machine with an agent: its container runtimes and the limits they can enforce.',
    spec: structuralSchema(sandboxNodeSpecSchema),
    specRequired: false,
    status: structuralSchema(sandboxNodeStatusSchema),
    columns: [
      column('Ready', condition('Ready', 'status'), 'Whether its agent and a runtime are ready.'),
      column('Runtime', '.status.runtimes[0].name', 'Its first runtime.'),
      column('Version', '.status.runtimes[0].version', 'The version of that runtime.'),
      column('Cgroup', '.status.runtimes[0].cgroupVersion', 'The cgroup version of that runtime.'),
      column('CPU', '.status.runtimes[0].limits.cpu.enforced', 'Whether CPU limits are enforced.'),
      column('Memory', '.status.runtimes[0].limits.memory.enforced', 'Whether memory limits are enforced.'),
      column(
        'Swap',
        '.status.runtimes[0].limits.swap.enforced',
        'Whether swap is held to the memory limit.',
        1,
      ),
      column('PIDs', '.status.runtimes[0].limits.pids.enforced', 'Whether limits on processes are enforced.'),
      column('Unschedulable', '.spec.unschedulable', 'Whether it takes no new sandboxes.', 1, 'boolean'),
      column('Agent', '.status.agent.version', 'The version of its agent.', 1),
      age,
    ],
    selectable: [],
  });
}

const age: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'The time since it was created.',
};

function column(
  name: string,
  jsonPath: string,
  description: string,
  priority = 0,
  type: PrinterColumn['type'] = 'string',
): PrinterColumn {
  return { name, type, jsonPath, description, ...(priority > 0 && { priority }) };
}

function condition(type: string, field: 'status' | 'reason'): string {
  return `.status.conditions[?(@.type=="${type}")].${field}`;
}

function definition(options: {
  kind: string;
  plural: string;
  shortName: string;
  scope: 'Namespaced' | 'Cluster';
  description: string;
  spec: StructuralSchema;
  specRequired: boolean;
  status: StructuralSchema;
  columns: PrinterColumn[];
  selectable: string[];
}): CustomResourceDefinition {
  const { kind, plural, scope } = options;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope,
      names: {
        plural,
        singular: kind.toLowerCase(),
        kind,
        listKind: `${kind}List`,
        shortNames: [options.shortName],
        categories: ['holdfast'],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: options.description,
              ...(options.specRequired && { required: ['spec'] }),
              properties: { ...typeMeta, spec: options.spec, status: options.status },
            },
          },
          subresources: { status: {} },
          additionalPrinterColumns: options.columns,
          ...(options.selectable.length > 0 && {
            selectableFields: options.selectable.map((jsonPath) => ({ jsonPath })),
          }),
        },
      ],
    },
  };
}

/** Kubernetes' own words, so that `kubectl explain` reads as for a built-in kind. */
const typeMeta: Record<string, StructuralSchema> = {
  apiVersion: {
    type: 'string',
    description:
      'APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values.',
  },
  kind: {
    type: 'string',
    description:
      'Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase.',
  },
  metadata: { type: 'object' },
};
