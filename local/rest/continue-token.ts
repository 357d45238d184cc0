import { isRecord } from '../object.ts';
import { goQuote } from '../schema/json.ts';
import { refuse } from './status.ts';

/**
 * Where the next page begins: after `start`, a key relative to the namespace that is listed, in the state at `rv`
 * (-1: in whatever state there is).
 */
export interface ContinueToken {
  rv: number;
  start: string;
}

export function encodeToken(token: ContinueToken): string {
  const json = JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.rv, start: `${token.start}\0` });
  return Buffer.from(json).toString('base64url');
}

/** Throws 400 for what is not a token of ours. */
export function decodeToken(text: string): ContinueToken {
  const bytes = Buffer.from(text, 'base64url');
  const value = parse(bytes.toString());
  if (
    !isRecord(value) ||
    value['v'] !== 'meta.k8s.io/v1' ||
    typeof value['rv'] !== 'number' ||
    !Number.isSafeInteger(value['rv']) ||
    typeof value['start'] !== 'string'
  ) {
    throw refuse.badRequest(`invalid continue token: continue key is not valid${complaint(bytes)}`);
  }
  return { rv: value['rv'], start: value['start'].replace(/\0$/, '') };
}

/** What a JSON decoder says of bytes that are no JSON. */
function complaint(bytes: Buffer): string {
  const first = bytes[0];
  if (first === undefined) return ': unexpected end of JSON input';
  if (first === 0x7b) return '';
  const shown = goQuote(String.fromCodePoint(first)).slice(1, -1);
  return `: invalid character '${shown}' looking for beginning of value`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The 410 of a page whose state has been compacted; it offers to go on in the state there is. */
export function expiredToken(token: ContinueToken): Error {
  return refuse.expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
      'without the continue parameter, or use the continue token in this response to retrieve the remainder of the ' +
      'results. Continuing with the provided token results in an inconsistent list - objects that were created, ' +
      'modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    { continue: encodeToken({ rv: -1, start: token.start }) },
  );
}
