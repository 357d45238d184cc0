import { deepEqual, goJSON, goNumber, isObject, type Json, member } from '../schema/json.ts';

/** A path that does not parse, or that does not fit the value it is applied to. */
export class JSONPathError extends Error {
  override readonly name = 'JSONPathError';
}

type Step =
  | { kind: 'field'; name: string }
  | { kind: 'wildcard' }
  | { kind: 'recursive' }
  | { kind: 'slice'; from?: number; to?: number; step?: number; single: boolean }
  | { kind: 'union'; paths: Step[][] }
  | { kind: 'filter'; left: Step[]; operator: string; right: Operand }
  | { kind: 'value'; value: Json };
type Operand = Step[];

export type JSONPath = Step[];

/**
 * The JSONPath of kubectl and of CRDs, without ranges: fields (with `\.` for a dot in a name), `['a']`, `[0]`,
 * `[1:3]`, `[*]`, `[a,b]`, `..` and filters such as `[?(@.type=="Ready")]`. Throws JSONPathError.
 */
export function parseJSONPath(text: string): JSONPath {
  if (text.length > 4096) throw new JSONPathError('path is too long');
  return new Parser(text).parse();
}

const MAX_DEPTH = 20;

class Parser {
  readonly #text: string;
  readonly #depth: number;
  #at = 0;

  constructor(text: string, depth = 0) {
    if (depth > MAX_DEPTH) throw new JSONPathError('path is nested too deep');
    this.#text = text;
    this.#depth = depth;
  }

  parse(): Step[] {
    const steps: Step[] = [];
    while (this.#at < this.#text.length) this.#step(steps);
    return steps;
  }

  #step(steps: Step[]): void {
    const rest = this.#text.slice(this.#at);
    const c = rest[0] ?? '';
    if (rest.startsWith('[?(')) this.#filter(steps);
    else if (rest.startsWith('..')) this.#recursive(steps);
    else if (c === ' ' || c === '@' || c === '$') this.#at++;
    else if (c === '[') this.#array(steps);
    else if (c === '"' || c === "'") steps.push({ kind: 'value', value: this.#quoted(c) });
    else if (c === '.') {
      this.#at++;
      this.#field(steps);
    } else if (/[-+\d]/.test(c)) this.#number(steps, rest);
    else if (/[A-Za-z_]/.test(c)) this.#word(steps, rest);
    else throw new JSONPathError(`unrecognized character in action: ${unicode(c)}`);
  }

  #recursive(steps: Step[]): void {
    if (steps.at(-1)?.kind === 'recursive') throw new JSONPathError('invalid multiple recursive descent');
    this.#at += 2;
    steps.push({ kind: 'recursive' });
    if (/[A-Za-z0-9_]/.test(this.#text[this.#at] ?? '')) this.#field(steps);
  }

  #field(steps: Step[]): void {
    let name = '';
    while (this.#at < this.#text.length) {
      const c = this.#text[this.#at] ?? '';
      if (c === '\\') {
        name += this.#text[this.#at + 1] ?? '';
        this.#at += 2;
        continue;
      }
      if (/[\s.,[\]$@{}]/.test(c)) break;
      name += c;
      this.#at++;
    }
    steps.push(name === '*' ? { kind: 'wildcard' } : { kind: 'field', name });
  }

  #number(steps: Step[], rest: string): void {
    const match = /^[-+]?[\d.]*/.exec(rest)?.[0] ?? '';
    const value = Number(match);
    if (!/\d/.test(match) || Number.isNaN(value)) throw new JSONPathError(`cannot parse number ${match}`);
    this.#at += match.length;
    steps.push({ kind: 'value', value });
  }

  #word(steps: Step[], rest: string): void {
    const match = /^[^\s.,[\]$@{}]+/.exec(rest)?.[0] ?? '';
    this.#at += match.length;
    if (match !== 'true' && match !== 'false') throw new JSONPathError(`unrecognized identifier ${match}`);
    steps.push({ kind: 'value', value: match === 'true' });
  }

  #quoted(quote: string): string {
    let out = '';
    for (let i = this.#at + 1; i < this.#text.length; i++) {
      const c = this.#text[i] ?? '';
      if (c === '\\') {
        out += this.#text[i + 1] ?? '';
        i++;
      } else if (c === quote) {
        this.#at = i + 1;
        return out;
      } else out += c;
    }
    throw new JSONPathError('unterminated quoted string');
  }

  #array(steps: Step[]): void {
    const end = this.#text.indexOf(']', this.#at);
    if (end < 0) throw new JSONPathError('unterminated array');
    const inner = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    const parts = inner.split(',');
    if (parts.length > 1) {
      steps.push({
        kind: 'union',
        paths: parts.map((part) => new Parser(`[${part.trim()}]`, this.#depth + 1).parse()),
      });
      return;
    }
    const key = /^'([^']*)'$/.exec(inner);
    if (key !== null) {
      steps.push(...new Parser(`.${key[1] ?? ''}`, this.#depth + 1).parse());
      return;
    }
    const slice = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(inner === '*' ? ':' : inner);
    if (slice === null) throw new JSONPathError(`invalid array index ${inner}`);
    steps.push(sliceStep(slice));
  }

  #filter(steps: Step[]): void {
    let at = this.#at + 3;
    let quote = '';
    for (; at < this.#text.length; at++) {
      const c = this.#text[at] ?? '';
      if (quote !== '') {
        if (c === '\\') at++;
        else if (c === quote) quote = '';
      } else if (c === '"' || c === "'") quote = c;
      else if (c === ')') break;
    }
    if (at >= this.#text.length) throw new JSONPathError('unterminated filter');
    if (this.#text[at + 1] !== ']') throw new JSONPathError('unclosed array expect ]');
    const inner = this.#text.slice(this.#at + 3, at);
    this.#at = at + 2;
    const match = /^([^!<>=]+)([!<>=]+)(.+?)$/s.exec(inner);
    const parse = (text: string): Step[] => new Parser(text, this.#depth + 1).parse();
    if (match === null) steps.push({ kind: 'filter', left: parse(inner), operator: 'exists', right: [] });
    else
      steps.push({
        kind: 'filter',
        left: parse(match[1] ?? ''),
        operator: match[2] ?? '',
        right: parse(match[3] ?? ''),
      });
  }
}

function unicode(c: string): string {
  const code = (c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `U+${code} '${c}'`;
}

function sliceStep(match: RegExpExecArray): Step {
  const number = (text: string | undefined): number | undefined =>
    text === undefined || text === '' || text === ':' ? undefined : Number(text.replace(':', ''));
  const from = number(match[1]);
  const to = number(match[2]);
  const step = number(match[3]);
  return {
    kind: 'slice',
    single: match[2] === undefined,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(step === undefined ? {} : { step }),
  };
}

/** What the path finds, in order; nothing where members are missing. Throws JSONPathError where it does not fit. */
export function findJSONPath(path: JSONPath, value: Json): Json[] {
  let found: Json[] = [value];
  for (const step of path) found = apply(step, found);
  return found;
}

function apply(step: Step, input: Json[]): Json[] {
  switch (step.kind) {
    case 'value':
      return input.map(() => step.value);
    case 'field':
      return input.flatMap((value) => {
        const found = isObject(value) ? member(value, step.name) : undefined;
        return found === undefined ? [] : [found];
      });
    case 'wildcard':
      return input.flatMap(children);
    case 'recursive':
      return input.flatMap(descend);
    case 'union':
      return step.paths.flatMap((path) => path.reduce((found, next) => apply(next, found), input));
    case 'slice':
      return input.flatMap((value) => slice(step, value));
    case 'filter':
      return input.flatMap((value) => filter(step, value));
  }
}

function children(value: Json): Json[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

function descend(value: Json): Json[] {
  const below = children(value);
  return below.length === 0 ? [] : [value, ...below.flatMap(descend)];
}

function slice(step: Step & { kind: 'slice' }, value: Json): Json[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new JSONPathError('value is not array or slice');
  const { length } = value;
  let from = step.from ?? 0;
  if (from < 0) from += length;
  let to = step.single ? from + 1 : (step.to ?? length);
  if (to < 0) to += length;
  if (from === to) return [];
  if (from < 0 || from >= length)
    throw new JSONPathError(`array index out of bounds: index ${from}, length ${length}`);
  if (to < 0 || to > length)
    throw new JSONPathError(`array index out of bounds: index ${to - 1}, length ${length}`);
  if (from > to) throw new JSONPathError(`starting index ${from} is greater than ending index ${to}`);
  const by = step.step ?? 1;
  if (by <= 0) throw new JSONPathError('step must be > 0');
  return value.slice(from, to).filter((_, i) => i % by === 0);
}

function filter(step: Step & { kind: 'filter' }, value: Json): Json[] {
  if (!Array.isArray(value)) throw new JSONPathError('value is not array or slice and cannot be filtered');
  return value.filter((item) => {
    const left = findJSONPath(step.left, item);
    if (step.operator === 'exists') return left.length > 0;
    const right = findJSONPath(step.right, item);
    if (left.length === 0 || right.length === 0) return false;
    if (left.length > 1 || right.length > 1)
      throw new JSONPathError('can only compare one element at a time');
    return compare(step.operator, left[0] ?? null, right[0] ?? null);
  });
}

function compare(operator: string, left: Json, right: Json): boolean {
  switch (operator) {
    case '==':
      return deepEqual(left, right);
    case '!=':
      return !deepEqual(left, right);
    default:
      break;
  }
  const comparable =
    (typeof left === 'number' && typeof right === 'number') ||
    (typeof left === 'string' && typeof right === 'string');
  if (!comparable) throw new JSONPathError('incompatible types for comparison');
  switch (operator) {
    case '<':
      return left < right;
    case '>':
      return left > right;
    case '<=':
      return left <= right;
    case '>=':
      return left >= right;
    default:
      throw new JSONPathError(`unrecognized filter operator ${operator}`);
  }
}

/** As the server prints a value into a column of type string. */
export function printJSONValue(value: Json): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return goNumber(value);
  return goJSON(value);
}
