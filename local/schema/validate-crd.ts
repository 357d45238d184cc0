import { addAll } from '../add-all.ts';
import type { CRDVersion, CustomResourceDefinition, JSONSchemaProps, PrinterColumn } from './crd-types.ts';
import { childPath, type FieldError, fieldErrors, indexPath } from './field-error.ts';
import { deepEqual, goStruct, type Json, type JsonObject } from './json.ts';
import { isDNS1035Label, isDNS1123Subdomain } from './names.ts';
import { validateObjectMeta } from './object-meta.ts';
import { validateOpenAPISchema } from './validate-schema.ts';

/**
 * All refusals of a CustomResourceDefinition on creation, worded as a kube-apiserver words them. Defaults (singular,
 * listKind, conversion) are taken as filled in. Not checked: the estimated cost of rules, and webhooks.
 */
export function validateCRD(crd: CustomResourceDefinition): FieldError[] {
  const { spec } = crd;
  const wanted = `${spec.names?.plural ?? ''}.${spec.group ?? ''}`;
  const name = (value: string): string[] => [
    ...isDNS1123Subdomain(value),
    ...(value === wanted ? [] : ['must be spec.names.plural+"."+spec.group']),
  ];
  return [
    ...validateObjectMeta(crd.metadata as JsonObject, { namespaced: false, name }),
    ...validateSpec(crd),
    ...validateStored(spec.versions ?? []),
    ...(spec.preserveUnknownFields === true
      ? [
          fieldErrors.invalid(
            'spec.preserveUnknownFields',
            true,
            'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
          ),
        ]
      : []),
  ];
}

/** What may not change in an established CRD, beside what a new one is refused for. */
export function validateCRDUpdate(
  crd: CustomResourceDefinition,
  old: CustomResourceDefinition,
): FieldError[] {
  const immutable = (path: string, value: Json, before: Json): FieldError[] =>
    deepEqual(value, before) ? [] : [fieldErrors.invalid(path, value, 'field is immutable')];
  return [
    ...validateSpec(crd),
    ...immutable('spec.scope', crd.spec.scope, old.spec.scope),
    ...immutable('spec.names.kind', crd.spec.names.kind, old.spec.names.kind),
    ...immutable('spec.group', crd.spec.group, old.spec.group),
    ...immutable('spec.names.plural', crd.spec.names.plural, old.spec.names.plural),
  ];
}

/** Whether all versions say the same: the server then keeps it once, and its messages name the top-level field. */
function shared(versions: CRDVersion[], key: keyof CRDVersion): boolean {
  const [first, ...rest] = versions;
  if (first?.[key] === undefined) return false;
  return rest.every((version) => deepEqual(version[key] as Json | undefined, first[key] as Json));
}

function validateSpec(crd: CustomResourceDefinition): FieldError[] {
  const { spec } = crd;
  const errors: FieldError[] = [...validateGroup(spec.group ?? '')];
  const scopes = ['Cluster', 'Namespaced'];
  const scope: string = spec.scope ?? '';
  if (scope === '') errors.push(fieldErrors.required('spec.scope'));
  else if (!scopes.includes(scope)) errors.push(fieldErrors.notSupported('spec.scope', scope, scopes));
  const versions = spec.versions ?? [];
  for (const [i, version] of versions.entries())
    if (version.schema?.openAPIV3Schema === undefined)
      errors.push(fieldErrors.required(`${indexPath('spec.versions', i)}.schema.openAPIV3Schema`));
  addAll(errors, validateVersions(versions));
  const [first] = versions;
  const wrong = first === undefined ? [] : isDNS1035Label(first.name);
  if (wrong.length > 0) errors.push(fieldErrors.invalid('spec.version', first?.name, wrong.join(',')));
  addAll(errors, validateNames(crd));
  addAll(errors, validateTopLevel(versions));
  addAll(errors, validateConversion(spec.conversion));
  return errors;
}

function validateGroup(group: string): FieldError[] {
  if (group === '') return [fieldErrors.required('spec.group')];
  const wrong = isDNS1123Subdomain(group);
  if (wrong.length > 0) return [fieldErrors.invalid('spec.group', group, wrong.join(','))];
  if (!group.includes('.'))
    return [fieldErrors.invalid('spec.group', group, 'should be a domain with at least one dot')];
  return [];
}

function validateVersions(versions: CRDVersion[]): FieldError[] {
  const errors: FieldError[] = [];
  const names = versions.map((version) => version.name);
  for (const [i, version] of versions.entries()) {
    const at = indexPath('spec.versions', i);
    const wrong = isDNS1035Label(version.name);
    if (wrong.length > 0) errors.push(fieldErrors.invalid(`${at}.name`, version.name, wrong.join(',')));
    addAll(errors, validateVersion(version, versions, at));
  }
  const shown = showVersions(versions);
  if (new Set(names).size !== names.length)
    errors.push({ ...fieldErrors.invalid('spec.versions', '', 'must contain unique version names'), shown });
  if (versions.filter((version) => version.storage).length !== 1)
    errors.push({
      ...fieldErrors.invalid('spec.versions', '', 'must have exactly one version marked as storage version'),
      shown,
    });
  return errors;
}

/** As the server's own type is written; what all versions share is kept elsewhere and stands as null here. */
function showVersions(versions: CRDVersion[]): string {
  const own = (version: CRDVersion, key: keyof CRDVersion): unknown =>
    shared(versions, key) ? null : (version[key] ?? null);
  return goStruct(
    versions.map((version) => ({
      Name: version.name,
      Served: version.served,
      Storage: version.storage,
      Deprecated: version.deprecated ?? false,
      DeprecationWarning: version.deprecationWarning ?? null,
      Schema: own(version, 'schema'),
      Subresources: own(version, 'subresources'),
      AdditionalPrinterColumns: own(version, 'additionalPrinterColumns'),
      SelectableFields: own(version, 'selectableFields'),
    })),
  );
}

/** status.storedVersions begins with the first storage version. */
function validateStored(versions: CRDVersion[]): FieldError[] {
  const storage = versions.filter((version) => version.storage).map((version) => version.name);
  const [first, ...rest] = storage;
  const path = 'status.storedVersions';
  if (first === undefined) return [fieldErrors.invalid(path, null, 'must have at least one stored version')];
  return rest
    .filter((name) => name !== first)
    .map((name) => fieldErrors.invalid(path, [first], `must have the storage version ${name}`));
}

function validateVersion(version: CRDVersion, versions: CRDVersion[], at: string): FieldError[] {
  const errors: FieldError[] = [];
  if (version.deprecationWarning !== undefined && version.deprecated !== true)
    errors.push(
      fieldErrors.invalid(
        `${at}.deprecationWarning`,
        version.deprecationWarning,
        'can only be set for deprecated versions',
      ),
    );
  const schema = version.schema?.openAPIV3Schema;
  if (schema !== undefined && !shared(versions, 'schema'))
    addAll(errors, validateOpenAPISchema(schema, hasStatus(version), `${at}.schema.openAPIV3Schema`));
  if (!shared(versions, 'subresources')) addAll(errors, validateSubresources(version, `${at}.subresources`));
  if (!shared(versions, 'additionalPrinterColumns'))
    addAll(errors, validateColumns(version, `${at}.additionalPrinterColumns`));
  if (!shared(versions, 'selectableFields'))
    addAll(errors, validateSelectable(version, schema, `${at}.selectableFields`));
  return errors;
}

function validateTopLevel(versions: CRDVersion[]): FieldError[] {
  const [first] = versions;
  if (first === undefined) return [];
  const errors: FieldError[] = [];
  const schema = first.schema?.openAPIV3Schema;
  if (schema !== undefined && shared(versions, 'schema'))
    errors.push(
      ...validateOpenAPISchema(schema, versions.some(hasStatus), 'spec.validation.openAPIV3Schema'),
    );
  if (shared(versions, 'subresources')) addAll(errors, validateSubresources(first, 'spec.subresources'));
  if (shared(versions, 'additionalPrinterColumns'))
    addAll(errors, validateColumns(first, 'spec.additionalPrinterColumns'));
  if (shared(versions, 'selectableFields'))
    addAll(errors, validateSelectable(first, schema, 'spec.selectableFields'));
  return errors;
}

const hasStatus = (version: CRDVersion): boolean => version.subresources?.status !== undefined;

function validateNames(crd: CustomResourceDefinition): FieldError[] {
  const names = crd.spec.names ?? {};
  const kind = names.kind ?? '';
  const values: [string, string, string][] = [
    ['plural', names.plural ?? '', names.plural ?? ''],
    ['singular', names.singular ?? kind.toLowerCase(), names.singular ?? kind.toLowerCase()],
    ['kind', kind, kind.toLowerCase()],
    [
      'listKind',
      names.listKind ?? (kind === '' ? '' : `${kind}List`),
      (names.listKind ?? `${kind}List`).toLowerCase(),
    ],
  ];
  const errors: FieldError[] = [];
  for (const [key, value] of values)
    if (value === '') errors.push(fieldErrors.required(childPath('spec.names', key)));
  for (const [key, value, checked] of values) {
    const wrong = value === '' ? [] : isDNS1035Label(checked);
    const cased = key === 'kind' || key === 'listKind';
    if (wrong.length > 0)
      errors.push(
        fieldErrors.invalid(
          childPath('spec.names', key),
          value,
          `${cased ? 'may have mixed case, but should otherwise match: ' : ''}${wrong.join(',')}`,
        ),
      );
  }
  const list = (key: 'shortNames' | 'categories'): FieldError[] =>
    (names[key] ?? []).flatMap((value, i) => {
      const wrong = isDNS1035Label(value);
      return wrong.length === 0
        ? []
        : [fieldErrors.invalid(indexPath(childPath('spec.names', key), i), value, wrong.join(','))];
    });
  addAll(errors, list('shortNames'));
  if (kind !== '' && kind === names.listKind)
    errors.push(fieldErrors.invalid('spec.names.listKind', kind, 'kind and listKind may not be the same'));
  addAll(errors, list('categories'));
  return errors;
}

function validateSubresources(version: CRDVersion, at: string): FieldError[] {
  const scale = version.subresources?.scale;
  if (scale === undefined) return [];
  const path = (key: string, value: string, prefixes: string[], under: string): FieldError[] => {
    const field = `${at}.scale.${key}`;
    if (value === '') return [fieldErrors.required(field)];
    const simple = simplePath(value, field);
    if (simple.length > 0) return simple;
    if (prefixes.some((prefix) => value.startsWith(prefix))) return [];
    return [fieldErrors.invalid(field, value, `should be a json path under ${under}`)];
  };
  return [
    ...path('specReplicasPath', scale.specReplicasPath ?? '', ['.spec.'], '.spec'),
    ...path('statusReplicasPath', scale.statusReplicasPath ?? '', ['.status.'], '.status'),
    ...(scale.labelSelectorPath === undefined || scale.labelSelectorPath === ''
      ? []
      : path(
          'labelSelectorPath',
          scale.labelSelectorPath,
          ['.spec.', '.status.'],
          'either .spec or .status',
        )),
  ];
}

function simplePath(value: string, field: string): FieldError[] {
  if (value === '') return [fieldErrors.invalid(field, value, 'must not be empty')];
  if (!value.startsWith('.'))
    return [fieldErrors.invalid(field, value, 'must be a simple json path starting with .')];
  return [];
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function validateColumns(version: CRDVersion, at: string): FieldError[] {
  return (version.additionalPrinterColumns ?? []).flatMap((column, i) =>
    validateColumn(column, indexPath(at, i)),
  );
}

function validateColumn(column: PrinterColumn, at: string): FieldError[] {
  const errors: FieldError[] = [];
  if ((column.name ?? '') === '') errors.push(fieldErrors.required(`${at}.name`));
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  if ((column.type ?? '') === '') errors.push(fieldErrors.required(`${at}.type`, types));
  else if (!COLUMN_TYPES.includes(column.type))
    errors.push(fieldErrors.invalid(`${at}.type`, column.type, types));
  const format = column.format ?? '';
  if (format !== '' && !COLUMN_FORMATS.includes(format))
    errors.push(fieldErrors.invalid(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
  if ((column.jsonPath ?? '') === '') errors.push(fieldErrors.required(`${at}.JSONPath`));
  else addAll(errors, simplePath(column.jsonPath, `${at}.JSONPath`));
  return errors;
}

const MAX_SELECTABLE = 8;

function validateSelectable(
  version: CRDVersion,
  schema: JSONSchemaProps | undefined,
  at: string,
): FieldError[] {
  const fields = version.selectableFields ?? [];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { jsonPath = '' }] of fields.entries()) {
    const field = `${indexPath(at, i)}.jsonPath`;
    if (jsonPath === '') errors.push(fieldErrors.required(field));
    else addAll(errors, validateSelectablePath(jsonPath, schema, field));
    if (seen.has(jsonPath)) errors.push(fieldErrors.duplicate(field, jsonPath));
    seen.add(jsonPath);
  }
  if (fields.length > MAX_SELECTABLE) errors.push(fieldErrors.tooMany(at, fields.length, MAX_SELECTABLE));
  return errors;
}

function validateSelectablePath(
  path: string,
  schema: JSONSchemaProps | undefined,
  field: string,
): FieldError[] {
  const invalid = (detail: string): FieldError[] => [fieldErrors.invalid(field, path, detail)];
  if (path.includes('[')) return invalid('is an invalid path: array notation is not allowed');
  let at: JSONSchemaProps | undefined = schema;
  for (const key of path.replace(/^\./, '').split('.')) at = at?.properties?.[key];
  if (!path.startsWith('.'))
    return invalid(`is an invalid path: expected [ or . but got: ${path.split('.')[0] ?? ''}`);
  if (at === undefined) return invalid('is an invalid path: does not refer to a valid field');
  if (path === '.metadata' || path.startsWith('.metadata.'))
    return invalid('must not point to fields in metadata');
  if (!['string', 'boolean', 'integer'].includes(at.type ?? ''))
    return invalid(
      'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
    );
  return [];
}

function validateConversion(conversion: { strategy: string; webhook?: object } | undefined): FieldError[] {
  if (conversion === undefined) return [];
  if ((conversion.strategy ?? '') === '') return [fieldErrors.required('spec.conversion.strategy')];
  const strategies = ['None', 'Webhook'];
  if (!strategies.includes(conversion.strategy))
    return [fieldErrors.notSupported('spec.conversion.strategy', conversion.strategy, strategies)];
  return [];
}
