import type { Clock } from '../clock.ts';
import type { StoredObject } from '../object.ts';
import type { ChangeType } from '../store/change.ts';
import { apiVersion, type Call, fromStorage } from './call.ts';
import type { Row } from '../store/store.ts';
import type { ListPage } from './list.ts';
import { refuse } from './status.ts';
import { tableOf } from './table.ts';

/** An object in the call's version, or as it is stored. */
export type Source = { object: StoredObject } | { rv: number; body: string };

/** How answers about objects are written: whole, their metadata only, or as a table for people. */
export interface Representation {
  contentType: string;
  object(source: Source): string;
  list(page: ListPage): string;
  /** One line of a watch. */
  event(type: ChangeType, source: Source): string;
  bookmark(rv: number, initialEventsEnd: boolean): string;
}

const INITIAL_END = { 'k8s.io/initial-events-end': 'true' };
const META_VERSION = 'meta.k8s.io/v1';

/** The first representation of an Accept header that can be had. Throws 406. */
export function representation(
  accept: string | undefined,
  call: Call,
  options: { includeObject: string | null; clock: Clock },
): Representation {
  for (const clause of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim().toLowerCase());
    if (type !== '' && type !== '*/*' && type !== 'application/*' && type !== 'application/json') continue;
    const as = parameter(parameters, 'as');
    if (as === undefined) return wholeObjects(call);
    const version = parameter(parameters, 'v');
    if (parameter(parameters, 'g') !== 'meta.k8s.io' || version !== 'v1') continue;
    if (as === 'table') return tables(call, includeObjectOf(options.includeObject), options.clock);
    if (as === 'partialobjectmetadata' || as === 'partialobjectmetadatalist') return metadataOnly(call);
  }
  if (accept?.includes('application/yaml') === true || accept?.includes('protobuf') === true)
    return wholeObjects(call);
  throw refuse.notAcceptable('only the following media types are accepted: application/json');
}

function includeObjectOf(value: string | null): string {
  if (value === null || value === '') return 'Metadata';
  if (['None', 'Metadata', 'Object'].includes(value)) return value;
  throw refuse.badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

function parameter(parameters: string[], name: string): string | undefined {
  return parameters.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
}

function viewed(call: Call, source: Source): StoredObject {
  return 'body' in source ? fromStorage(call, JSON.parse(source.body) as StoredObject) : source.object;
}

function listMeta(page: ListPage): Record<string, unknown> {
  return {
    resourceVersion: String(page.resourceVersion),
    ...(page.continueToken === undefined ? {} : { continue: page.continueToken }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
}

function bookmarkMeta(rv: number, initialEventsEnd: boolean): Record<string, unknown> {
  return { resourceVersion: String(rv), ...(initialEventsEnd ? { annotations: INITIAL_END } : {}) };
}

const line = (type: string, object: string): string => `{"type":"${type}","object":${object}}\n`;

/** Stored texts start with their version and kind, so most are sent as they are. */
function wholeObjects(call: Call): Representation {
  const version = apiVersion(call);
  const { kind, listKind } = call.kind;
  // Lists of custom kinds always say where they go on.
  const ownListMeta = call.kind.crd === undefined ? {} : { continue: '' };
  const head = `{"apiVersion":"${version}","kind":"${kind}",`;
  const asStored = (source: Source): source is { rv: number; body: string } =>
    'body' in source && source.rv > call.kind.staleUntil && source.body.startsWith(head);
  const text = (source: Source): string =>
    asStored(source) ? source.body : JSON.stringify(viewed(call, source));
  // Items of built-in lists do not say what they are: the list does.
  const item = (row: Row): string => {
    const whole = text(row);
    return call.kind.crd === undefined && whole.startsWith(head) ? `{${whole.slice(head.length)}` : whole;
  };
  return {
    contentType: 'application/json',
    object: text,
    list: (page) =>
      `{"kind":"${listKind}","apiVersion":"${version}","metadata":${JSON.stringify({ ...ownListMeta, ...listMeta(page) })},"items":[${page.rows.map(item).join(',')}]}`,
    event: (type, source) => line(type, text(source)),
    bookmark: (rv, end) =>
      line('BOOKMARK', JSON.stringify({ kind, apiVersion: version, metadata: bookmarkMeta(rv, end) })),
  };
}

function partial(object: StoredObject): Record<string, unknown> {
  return { kind: 'PartialObjectMetadata', apiVersion: META_VERSION, metadata: object.metadata };
}

function metadataOnly(call: Call): Representation {
  const text = (source: Source): string => JSON.stringify(partial(viewed(call, source)));
  return {
    contentType: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    object: text,
    list: (page) =>
      `{"kind":"PartialObjectMetadataList","apiVersion":"${META_VERSION}","metadata":${JSON.stringify(listMeta(page))},"items":[${page.rows.map(text).join(',')}]}`,
    event: (type, source) => line(type, text(source)),
    bookmark: (rv, end) =>
      line(
        'BOOKMARK',
        JSON.stringify({
          kind: 'PartialObjectMetadata',
          apiVersion: META_VERSION,
          metadata: bookmarkMeta(rv, end),
        }),
      ),
  };
}

function tables(call: Call, includeObject: string, clock: Clock): Representation {
  let headersSent = false;
  const table = (objects: StoredObject[], metadata: Record<string, unknown>, headers = true): string =>
    JSON.stringify(tableOf(call, objects, { metadata, headers, includeObject, now: clock.now() }));
  /** The columns are named once in a watch. */
  const one = (object: StoredObject): string => {
    const text = table([object], { resourceVersion: object.metadata.resourceVersion }, !headersSent);
    headersSent = true;
    return text;
  };
  return {
    contentType: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    object: (source) => {
      const view = viewed(call, source);
      return table([view], { resourceVersion: view.metadata.resourceVersion });
    },
    list: (page) =>
      table(
        page.rows.map((row) => viewed(call, row)),
        listMeta(page),
      ),
    event: (type, source) => line(type, one(viewed(call, source))),
    bookmark: (rv, end) =>
      line(
        'BOOKMARK',
        one({
          apiVersion: apiVersion(call),
          kind: call.kind.kind,
          metadata: bookmarkMeta(rv, end),
        } as unknown as StoredObject),
      ),
  };
}
