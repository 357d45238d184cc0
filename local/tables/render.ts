import type { PrinterColumn } from '../schema/crd-types.ts';
import { isObject, type Json, type JsonObject } from '../schema/json.ts';
import { ageOf } from './age.ts';
import {
  type BuiltinColumn,
  builtinColumns,
  type ColumnDefinition,
  CREATED_DESCRIPTION,
  NAME_DESCRIPTION,
} from './builtin.ts';
import { findJSONPath, type JSONPath, JSONPathError, parseJSONPath, printJSONValue } from './jsonpath.ts';

export interface TableOptions {
  /** Of a custom kind: its additionalPrinterColumns; [] or absent gives the Age. */
  columns?: readonly PrinterColumn[] | undefined;
  /** Of a built-in kind, which has columns of its own. */
  kind?: { group: string; kind: string };
  objects: readonly object[];
  now: Date;
  /** What each row carries of its object; the query parameter's default is `Metadata`. */
  includeObject?: string | undefined;
}

export interface Table {
  columnDefinitions: ColumnDefinition[];
  rows: { cells: Json[]; object: object | null }[];
}

/** The columns and rows of a `meta.k8s.io/v1` Table. The caller adds kind, metadata and the rest. */
export function renderTable(options: TableOptions): Table {
  const columns =
    options.kind === undefined
      ? customColumns(options.columns ?? [])
      : builtinColumns(options.kind.group, options.kind.kind);
  return {
    columnDefinitions: columns.map(({ definition }) => definition),
    rows: options.objects.map((object) => {
      const value = object as JsonObject;
      const cells = columns.map((column) => column.cell(value, options.now));
      const shown = rowObject(value, options.includeObject ?? 'Metadata');
      return { cells, object: shown };
    }),
  };
}

function rowObject(object: JsonObject, include: string): object | null {
  if (include === 'None') return null;
  if (include === 'Object') return object;
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object['metadata'] ?? {} };
}

/** What a CRD without columns of its own shows beside the name. */
const AGE: PrinterColumn = {
  name: 'Age',
  type: 'date',
  description: CREATED_DESCRIPTION,
  jsonPath: '.metadata.creationTimestamp',
};

function customColumns(columns: readonly PrinterColumn[]): BuiltinColumn[] {
  const name: BuiltinColumn = {
    definition: {
      name: 'Name',
      type: 'string',
      format: 'name',
      description: NAME_DESCRIPTION,
      priority: 0,
    },
    cell: (object) => {
      const { metadata } = object;
      const found = isObject(metadata) ? metadata['name'] : undefined;
      return typeof found === 'string' ? found : '';
    },
  };
  return [name, ...(columns.length === 0 ? [AGE] : columns).map(customColumn)];
}

function customColumn(column: PrinterColumn): BuiltinColumn {
  const path = parsed(column.jsonPath);
  return {
    definition: {
      name: column.name,
      type: column.type,
      format: column.format ?? '',
      description:
        column.description === undefined || column.description === ''
          ? `Custom resource definition column (in JSONPath format): ${column.jsonPath}`
          : column.description,
      priority: column.priority ?? 0,
    },
    cell: (object, now) => {
      const found = path === undefined ? undefined : first(path, object);
      return found === undefined ? null : cellOf(column.type, found, now);
    },
  };
}

const cache = new Map<string, JSONPath | undefined>();
const CACHE_LIMIT = 1000;

/** Paths are checked when a CRD is written; one that does not parse all the same leaves its cells empty. */
function parsed(text: string): JSONPath | undefined {
  if (cache.has(text)) return cache.get(text);
  let path: JSONPath | undefined;
  try {
    path = parseJSONPath(text);
  } catch (error) {
    if (!(error instanceof JSONPathError)) throw error;
  }
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(text, path);
  return path;
}

function first(path: JSONPath, object: JsonObject): Json | undefined {
  try {
    return findJSONPath(path, object)[0];
  } catch (error) {
    if (error instanceof JSONPathError) return undefined;
    throw error;
  }
}

function cellOf(type: string, value: Json, now: Date): Json {
  switch (type) {
    case 'string':
      return printJSONValue(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value, now) : null;
    default:
      return null;
  }
}
