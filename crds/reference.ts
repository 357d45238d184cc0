import { conditionTypes, eventReasons, reasons } from './conditions.ts';
import { crdManifests, type CustomResourceDefinition } from './crd-manifests.ts';
import { API_VERSION } from './group.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** The reference page of the documentation, from the same source as the definitions. */
export function referencePage(): string {
  return [
    '# Reference',
    '',
    'Generated from the schemas in `crds/` by `make generate`; edit those instead.',
    '',
    `Every kind is in \`${API_VERSION}\` and in the category \`holdfast\`: \`kubectl get holdfast\` lists them all.`,
    '',
    ...crdManifests().flatMap(kind),
    '## Conditions',
    '',
    'Conditions are `metav1.Condition`s: `lastTransitionTime` moves only when `status` does, and `observedGeneration` says which spec was meant.',
    '',
    ...table(['type', 'True means'], conditionTypes),
    '',
    '## Reasons',
    '',
    ...table(['reason', 'meaning'], reasons),
    '',
    '## Events',
    '',
    ...table(['reason', 'meaning'], eventReasons),
    '',
  ].join('\n');
}

function kind(crd: CustomResourceDefinition): string[] {
  const { names, scope, versions } = crd.spec;
  const schema = versions[0]?.schema.openAPIV3Schema;
  if (schema === undefined) return [];
  const { spec, status } = schema.properties ?? {};
  return [
    `## ${names.kind}`,
    '',
    `${schema.description ?? ''} ${scope === 'Namespaced' ? 'Namespaced' : 'Cluster-wide'}; short name \`${names.shortNames.join('`, `')}\`.`,
    '',
    ...fields('spec', spec),
    ...rules(spec),
    ...fields('status', status),
  ];
}

function fields(path: string, schema: StructuralSchema | undefined): string[] {
  if (schema === undefined) return [];
  const rows = rowsOf(path, schema);
  return [`### ${path}`, '', '| field | type | meaning |', '| --- | --- | --- |', ...rows, ''];
}

function rowsOf(path: string, schema: StructuralSchema): string[] {
  const rows: string[] = [];
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const field = `${path}.${name}`;
    const required = schema.required?.includes(name) ? ' Required.' : '';
    const standard = child.default === undefined ? '' : ` Default: \`${JSON.stringify(child.default)}\`.`;
    rows.push(
      `| \`${field}\` | ${typeOf(child)} | ${escape(child.description ?? '')}${required}${standard} |`,
    );
    rows.push(...rowsOf(child.items === undefined ? field : `${field}[]`, child.items ?? child));
  }
  return rows;
}

function typeOf(schema: StructuralSchema): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'integer or string';
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map to ${typeOf(schema.additionalProperties)}`;
  if (schema.format === 'date-time') return 'time';
  const bounds = boundsOf(schema);
  return bounds === '' ? (schema.type ?? '') : `${schema.type} (${bounds})`;
}

function boundsOf(schema: StructuralSchema): string {
  const parts = [
    schema.minimum !== undefined && `from ${schema.minimum}`,
    schema.maximum !== undefined && `to ${schema.maximum}`,
    schema.maxLength !== undefined && `at most ${schema.maxLength} characters`,
  ];
  return parts.filter((part) => part !== false).join(' ');
}

/** Each message of a rule once: what is refused, in the words of the refusal. */
function rules(schema: StructuralSchema | undefined): string[] {
  const messages = new Set(schema === undefined ? [] : messagesOf(schema, 'spec'));
  if (messages.size === 0) return [];
  return ['Refused when applied:', '', ...[...messages].map((message) => `- ${escape(message)}`), ''];
}

function messagesOf(schema: StructuralSchema, path: string): string[] {
  return [
    ...(schema['x-kubernetes-validations'] ?? []).map((rule) => `\`${path}\`: ${rule.message}`),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
      messagesOf(child, `${path}.${name}`),
    ),
    ...(schema.items === undefined ? [] : messagesOf(schema.items, `${path}[]`)),
  ];
}

function table(head: [string, string], entries: Readonly<Record<string, string>>): string[] {
  return [
    `| ${head[0]} | ${head[1]} |`,
    '| --- | --- |',
    ...Object.entries(entries).map(([name, sentence]) => `| \`${name}\` | ${escape(sentence)} |`),
  ];
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|');
}
