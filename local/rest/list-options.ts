import { type FieldError, fieldErrors } from '../schema/field-error.ts';
import { refuse } from './status.ts';

/** Where a list or a watch begins. */
export interface ListOptions {
  /** Undefined: unset. */
  resourceVersion: number | undefined;
  match: 'Exact' | 'NotOlderThan' | undefined;
  /** 0: no limit. */
  limit: number;
  continueToken: string | undefined;
  sendInitialEvents: boolean | undefined;
  bookmarks: boolean;
  timeoutSeconds: number | undefined;
}

/** Reads the query; throws 400 or 422, worded as the API server's. */
export function listOptions(query: URLSearchParams, watch: boolean): ListOptions {
  const version = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const token = query.get('continue') ?? '';
  const initial = query.get('sendInitialEvents');
  const errors = check({ version, match, token, initial, watch });
  if (errors.length > 0) throw refuse.invalid('meta.k8s.io', 'ListOptions', '', errors);
  return {
    resourceVersion: version === '' ? undefined : (watch ? storageRV : parseRV)(version),
    match: match === 'Exact' || match === 'NotOlderThan' ? match : undefined,
    // Whatever state there is, is answered whole: as from a kube-apiserver's cache.
    limit: version === '0' && !watch ? 0 : (integer(query, 'limit') ?? 0),
    continueToken: token === '' ? undefined : token,
    sendInitialEvents: initial === null ? undefined : isTrue(initial),
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    timeoutSeconds: integer(query, 'timeoutSeconds'),
  };
}

export function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0';
}

function integer(query: URLSearchParams, key: string): number | undefined {
  const text = query.get(key);
  if (text === null) return undefined;
  if (!/^-?\d{1,15}$/.test(text)) {
    throw refuse.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return Math.max(0, Number(text));
}

/** Where the store itself refuses it, a kube-apiserver says so in other words. */
export function storageRV(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw refuse.storage(
    `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

function parseRV(text: string): number {
  if (!/^\d{1,15}$/.test(text)) {
    throw refuse.badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return Number(text);
}

interface Raw {
  version: string;
  match: string;
  token: string;
  initial: string | null;
  watch: boolean;
}

const forbidden = (field: string, why: string): FieldError => fieldErrors.forbidden(field, why);

function check({ version, match, token, initial, watch }: Raw): FieldError[] {
  const known = match === '' || match === 'Exact' || match === 'NotOlderThan';
  if (watch) return checkWatch(match, initial, token);
  const errors: FieldError[] = [];
  if (initial !== null)
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  if (match === '') return errors;
  const field = 'resourceVersionMatch';
  if (version === '') {
    errors.push(forbidden(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
  }
  if (token !== '') {
    errors.push(forbidden(field, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  if (!known) errors.push(fieldErrors.notSupported(field, match, ['Exact', 'NotOlderThan', '']));
  if (match === 'Exact' && version === '0') {
    errors.push(forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  return errors;
}

function checkWatch(match: string, initial: string | null, token: string): FieldError[] {
  const field = 'resourceVersionMatch';
  if (initial === null) {
    return match === ''
      ? []
      : [
          forbidden(
            field,
            'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
          ),
        ];
  }
  const errors: FieldError[] = [];
  if (match !== 'NotOlderThan') {
    errors.push(forbidden(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
    if (match !== '') errors.push(fieldErrors.notSupported(field, match, ['NotOlderThan']));
  }
  if (token !== '') errors.push(forbidden('continue', 'continue is forbidden for watch'));
  return errors;
}
