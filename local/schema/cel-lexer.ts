import { type CelValue, Uint } from './cel-values.ts';

export interface Token {
  kind: 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'ident' | 'op' | 'end';
  text: string;
  pos: number;
  value?: CelValue;
}

/** A syntax error with its place; worded near to ANTLR's, which cel-go uses. */
export class CelSyntaxError extends Error {
  override readonly name = 'CelSyntaxError';
  readonly pos: number;
  constructor(message: string, pos: number) {
    super(message);
    this.pos = pos;
  }
}

const OPS = [
  '&&',
  '||',
  '==',
  '!=',
  '<=',
  '>=',
  '<',
  '>',
  '+',
  '-',
  '*',
  '/',
  '%',
  '!',
  '?',
  ':',
  '.',
  ',',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
];

/** The tokens of an expression; the last is `end`. Throws CelSyntaxError. */
export function tokenize(source: string): Token[] {
  const out: Token[] = [];
  let pos = 0;
  while (pos < source.length) {
    const rest = source.slice(pos, pos + 4096);
    const space = /^(?:[ \t\r\n\f]+|\/\/[^\n]*)/.exec(rest);
    if (space !== null) {
      pos += space[0].length;
      continue;
    }
    const token =
      readString(source, pos) ?? readNumber(rest, pos) ?? readWord(rest, pos) ?? readOp(rest, pos);
    if (token === undefined)
      throw new CelSyntaxError(`Syntax error: token recognition error at: '${rest[0]}'`, pos);
    out.push(token.token);
    pos += token.length;
  }
  out.push({ kind: 'end', text: '<EOF>', pos: source.length });
  return out;
}

type Read = { token: Token; length: number } | undefined;

function readWord(rest: string, pos: number): Read {
  const match = /^[_a-zA-Z][_a-zA-Z0-9]*/.exec(rest);
  return match === null
    ? undefined
    : { token: { kind: 'ident', text: match[0], pos }, length: match[0].length };
}

function readOp(rest: string, pos: number): Read {
  const op = OPS.find((candidate) => rest.startsWith(candidate));
  return op === undefined ? undefined : { token: { kind: 'op', text: op, pos }, length: op.length };
}

function readNumber(rest: string, pos: number): Read {
  const match =
    /^(?:0x[0-9a-fA-F]+[uU]?|(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|\d+[uU]?)/.exec(
      rest,
    );
  if (match === null) return undefined;
  const text = match[0];
  if (/^(?:0x[0-9a-fA-F]+|\d+)[uU]$/.test(text))
    return {
      token: { kind: 'uint', text, pos, value: new Uint(BigInt(text.slice(0, -1))) },
      length: text.length,
    };
  if (/^(?:0x[0-9a-fA-F]+|\d+)$/.test(text))
    return { token: { kind: 'int', text, pos, value: BigInt(text) }, length: text.length };
  return { token: { kind: 'double', text, pos, value: Number(text) }, length: text.length };
}

function readString(source: string, pos: number): Read {
  const prefix = /^(?:[rR][bB]|[bB][rR]|[rR]|[bB])?(?="""|'''|"|')/.exec(source.slice(pos, pos + 6))?.[0];
  if (prefix === undefined) return undefined;
  const raw = /r/i.test(prefix);
  const bytes = /b/i.test(prefix);
  let at = pos + prefix.length;
  const triple = source.slice(at, at + 3);
  const quote = triple === '"""' || triple === "'''" ? triple : (source[at] ?? '');
  at += quote.length;
  let text = '';
  const octets: number[] = [];
  const push = (chunk: string): void => {
    if (bytes) octets.push(...Buffer.from(chunk));
    else text += chunk;
  };
  for (;;) {
    if (at >= source.length)
      throw new CelSyntaxError(`Syntax error: token recognition error at: '${source.slice(pos)}'`, pos);
    if (source.startsWith(quote, at)) break;
    const c = source[at] ?? '';
    if (c === '\n' && quote.length === 1)
      throw new CelSyntaxError(`Syntax error: token recognition error at: '${source.slice(pos, at)}'`, pos);
    if (c !== '\\' || raw) {
      push(c);
      at++;
      continue;
    }
    const escape = readEscape(source, at, pos);
    if (bytes && escape.octet !== undefined) octets.push(escape.octet);
    else push(escape.text);
    at += escape.length;
  }
  at += quote.length;
  const value: CelValue = bytes ? Uint8Array.from(octets) : text;
  return {
    token: { kind: bytes ? 'bytes' : 'string', text: source.slice(pos, at), pos, value },
    length: at - pos,
  };
}

const ESCAPES: Record<string, string> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
};

function readEscape(
  source: string,
  at: number,
  start: number,
): { text: string; length: number; octet?: number } {
  const c = source[at + 1] ?? '';
  const simple = ESCAPES[c];
  if (simple !== undefined) return { text: simple, length: 2 };
  const code = /^\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/.exec(
    source.slice(at, at + 10),
  );
  if (code === null)
    throw new CelSyntaxError(
      `Syntax error: token recognition error at: '${source.slice(start, at + 2)}'`,
      start,
    );
  const number =
    code[4] === undefined
      ? Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16)
      : Number.parseInt(code[4], 8);
  if (number > 0x10ffff) throw new CelSyntaxError('invalid unicode code point', start);
  const octet = code[1] !== undefined || code[4] !== undefined ? { octet: number } : {};
  return { text: String.fromCodePoint(number), length: code[0].length, ...octet };
}
