import { componentName, metaName, ref, type Schema } from './components.ts';
import { documentPath, type OpenAPIResource, type Verb } from './resources.ts';

/** The paths of a resource with the operations that clients look for: kind, action and query parameters. */
export function resourcePaths(resource: OpenAPIResource): Record<string, Schema> {
  const base = `/${documentPath(resource.group, resource.version)}`;
  const scope = resource.namespaced ? `${base}/namespaces/{namespace}` : base;
  const collection = `${scope}/${resource.plural}`;
  const out: Record<string, Schema> = {};
  out[collection] = pathItem(resource, collectionOperations(resource), false);
  if (resource.namespaced && has(resource, 'list'))
    out[`${base}/${resource.plural}`] = pathItem(
      { ...resource, namespaced: false },
      { get: list(resource, `list${id(resource)}${resource.kind}ForAllNamespaces`) },
      false,
    );
  if (has(resource, 'get')) {
    out[`${collection}/{name}`] = pathItem(resource, objectOperations(resource, ''), true);
    if (resource.status)
      out[`${collection}/{name}/status`] = pathItem(resource, objectOperations(resource, 'status'), true);
  }
  return out;
}

const has = (resource: OpenAPIResource, verb: Verb): boolean => resource.verbs.includes(verb);

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `HoldfastDevV1alpha1`, as operation ids spell a group version. */
function id(resource: OpenAPIResource): string {
  const group = resource.group === '' ? 'core' : resource.group.replace(/\.k8s\.io$/, '');
  return group.split('.').map(capital).join('') + capital(resource.version);
}

const scoped = (resource: OpenAPIResource): string => (resource.namespaced ? 'Namespaced' : '');

function query(name: string, type: string, description: string): Schema {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } };
}

const dryRun = query('dryRun', 'string', '`All`: everything is checked and nothing is stored.');
const fieldManager = query('fieldManager', 'string', 'The name of the actor that makes the change.');
const fieldValidation = query(
  'fieldValidation',
  'string',
  'What happens to unknown and duplicate fields: `Ignore`, `Warn` or `Strict`.',
);
const force = query('force', 'boolean', 'Takes over conflicting fields of an apply request.');
const writeParameters = [dryRun, fieldManager, fieldValidation];
const listParameters = [
  query('allowWatchBookmarks', 'boolean', 'Asks for BOOKMARK events.'),
  query('continue', 'string', 'Where the last page ended.'),
  query('fieldSelector', 'string', 'Selects objects by their fields.'),
  query('labelSelector', 'string', 'Selects objects by their labels.'),
  query('limit', 'integer', 'The most items of a page.'),
  query('resourceVersion', 'string', 'How fresh the answer must be.'),
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant.'),
  query('sendInitialEvents', 'boolean', 'Begins a watch with what there is.'),
  query('timeoutSeconds', 'integer', 'When the server ends the call.'),
  query('watch', 'boolean', 'Watches instead of listing.'),
];
const deleteParameters = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'The time before the object is removed.'),
  query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.'),
  query('propagationPolicy', 'string', '`Orphan`, `Background` or `Foreground`.'),
];

function path(name: string, description: string): Schema {
  return { name, in: 'path', description, required: true, schema: { type: 'string', uniqueItems: true } };
}

function pathItem(resource: OpenAPIResource, operations: Record<string, Schema>, named: boolean): Schema {
  const parameters = [
    ...(named ? [path('name', `name of the ${resource.kind}`)] : []),
    ...(resource.namespaced
      ? [path('namespace', 'object name and auth scope, such as for teams and projects')]
      : []),
    query('pretty', 'string', 'Asks for indented output.'),
  ];
  return { ...operations, parameters };
}

function content(name: string): Schema {
  return { 'application/json': { schema: ref(name) }, 'application/yaml': { schema: ref(name) } };
}

function operation(
  resource: OpenAPIResource,
  action: string,
  operationId: string,
  description: string,
  options: { parameters?: Schema[]; body?: Schema; answer: string; codes?: string[] },
): Schema {
  const { group, version, kind } = resource;
  return {
    tags: [`${group === '' ? 'core' : id(resource)}_${version}`],
    description,
    operationId,
    ...(options.parameters === undefined ? {} : { parameters: options.parameters }),
    ...(options.body === undefined ? {} : { requestBody: { content: options.body, required: true } }),
    responses: Object.fromEntries(
      (options.codes ?? ['200']).map((code) => [
        code,
        {
          description: code === '201' ? 'Created' : code === '202' ? 'Accepted' : 'OK',
          content: content(options.answer),
        },
      ]),
    ),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, version, kind },
  };
}

function list(resource: OpenAPIResource, operationId: string): Schema {
  return operation(resource, 'list', operationId, `list objects of kind ${resource.kind}`, {
    parameters: listParameters,
    answer: componentName(resource, resource.listKind),
  });
}

function collectionOperations(resource: OpenAPIResource): Record<string, Schema> {
  const name = componentName(resource, resource.kind);
  const suffix = `${id(resource)}${scoped(resource)}${resource.kind}`;
  const out: Record<string, Schema> = {};
  if (has(resource, 'list')) out['get'] = list(resource, `list${suffix}`);
  if (has(resource, 'create'))
    out['post'] = operation(resource, 'post', `create${suffix}`, `create a ${resource.kind}`, {
      parameters: writeParameters,
      body: content(name),
      answer: name,
      codes: ['200', '201', '202'],
    });
  if (has(resource, 'deletecollection'))
    out['delete'] = operation(
      resource,
      'deletecollection',
      `delete${id(resource)}Collection${scoped(resource)}${resource.kind}`,
      `delete collection of ${resource.kind}`,
      { parameters: [...listParameters, ...deleteParameters], answer: metaName('Status') },
    );
  return out;
}

const PATCH_TYPES = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
];

function objectOperations(resource: OpenAPIResource, subresource: string): Record<string, Schema> {
  const name = componentName(resource, resource.kind);
  const suffix = `${id(resource)}${scoped(resource)}${resource.kind}${capital(subresource)}`;
  const of = subresource === '' ? '' : `${subresource} of `;
  const out: Record<string, Schema> = {
    get: operation(resource, 'get', `read${suffix}`, `read ${of}the specified ${resource.kind}`, {
      answer: name,
    }),
  };
  if (has(resource, 'update'))
    out['put'] = operation(
      resource,
      'put',
      `replace${suffix}`,
      `replace ${of}the specified ${resource.kind}`,
      {
        parameters: writeParameters,
        body: content(name),
        answer: name,
        codes: ['200', '201'],
      },
    );
  if (has(resource, 'patch')) {
    const patch = { schema: ref(metaName('Patch')) };
    out['patch'] = operation(
      resource,
      'patch',
      `patch${suffix}`,
      `partially update ${of}the specified ${resource.kind}`,
      {
        parameters: [...writeParameters, force],
        body: Object.fromEntries(PATCH_TYPES.map((type) => [type, patch])),
        answer: name,
      },
    );
  }
  if (has(resource, 'delete') && subresource === '')
    out['delete'] = operation(resource, 'delete', `delete${suffix}`, `delete a ${resource.kind}`, {
      parameters: deleteParameters,
      body: content(metaName('DeleteOptions')),
      answer: metaName('Status'),
      codes: ['200', '202'],
    });
  return out;
}
