import { errorText, fieldErrors, indexPath } from '../schema/field-error.ts';
import { isLabelValue, isQualifiedName } from '../schema/names.ts';

/** A selector that does not parse; the text is the server's, for its 400. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'exists' | '!' | 'gt' | 'lt';

interface LabelRequirement {
  key: string;
  operator: LabelOperator;
  /** Sorted, each once. */
  values: string[];
}

/** All must hold; an empty one selects everything. */
export type LabelSelector = LabelRequirement[];

type Kind = 'id' | 'end' | 'error' | 'op';
interface Token {
  kind: Kind;
  text: string;
}

const SYMBOLS = new Set(['=', '!', '(', ')', ',', '>', '<']);
const OPERATORS = new Set(['(', ')', ',', '!', '==', '=', '!=', '>', '<']);
const isSpace = (c: string): boolean => c === ' ' || c === '\t' || c === '\r' || c === '\n';

function tokenize(text: string): Token[] {
  const out: Token[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && isSpace(text[at] ?? '')) at++;
    if (at >= text.length || text[at] === '\0') break;
    const start = at;
    if (SYMBOLS.has(text[at] ?? '')) {
      let length = 0;
      for (let n = 1; SYMBOLS.has(text[start + n - 1] ?? ''); n++) {
        if (OPERATORS.has(text.slice(start, start + n))) length = n;
        else if (length > 0) break;
      }
      if (length === 0) length = 1;
      at = start + length;
      out.push({ kind: 'op', text: text.slice(start, at) });
    } else {
      while (
        at < text.length &&
        !SYMBOLS.has(text[at] ?? '') &&
        !isSpace(text[at] ?? '') &&
        text[at] !== '\0'
      )
        at++;
      out.push({ kind: 'id', text: text.slice(start, at) });
    }
  }
  out.push({ kind: 'end', text: '' });
  return out;
}

const BINARY = 'in, notin, =, ==, !=, gt, lt';

class Parser {
  readonly #tokens: Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '' };
  }

  #take(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }

  #isOp(token: Token, text: string): boolean {
    return token.kind === 'op' && token.text === text;
  }

  parse(): LabelSelector {
    const out: LabelSelector = [];
    for (;;) {
      const token = this.#peek();
      if (token.kind === 'end') return out;
      if (token.kind !== 'id' && !this.#isOp(token, '!'))
        throw new SelectorError(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      out.push(this.#requirement());
      const after = this.#take();
      if (after.kind === 'end') return out;
      if (!this.#isOp(after, ','))
        throw new SelectorError(`found '${after.text}', expected: ',' or 'end of string'`);
      const next = this.#peek();
      if (next.kind !== 'id' && !this.#isOp(next, '!'))
        throw new SelectorError(`found '${next.text}', expected: identifier after ','`);
    }
  }

  #requirement(): LabelRequirement {
    try {
      return this.#read();
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      throw new SelectorError(`unable to parse requirement: ${error.message}`);
    }
  }

  #read(): LabelRequirement {
    let token = this.#take();
    const absent = this.#isOp(token, '!');
    if (absent) token = this.#take();
    if (token.kind !== 'id') throw new SelectorError(`found '${token.text}', expected: identifier`);
    const key = token.text;
    checkKey(key);
    const next = this.#peek();
    if (next.kind === 'end' || this.#isOp(next, ','))
      return { key, operator: absent ? '!' : 'exists', values: [] };
    if (absent) return { key, operator: '!', values: [] };
    const operator = this.#operator();
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()];
    const sorted = [...new Set(values)].sort();
    checkValues(key, operator, sorted);
    return { key, operator, values: sorted };
  }

  #operator(): LabelOperator {
    const token = this.#take();
    switch (token.text) {
      case 'in':
      case 'notin':
      case '=':
      case '==':
      case '!=':
        return token.text;
      case '>':
        return 'gt';
      case '<':
        return 'lt';
      default:
        throw new SelectorError(`found '${token.text}', expected: ${BINARY}`);
    }
  }

  #value(): string {
    const token = this.#peek();
    if (token.kind === 'end' || this.#isOp(token, ',')) return '';
    this.#take();
    if (token.kind === 'id') return token.text;
    throw new SelectorError(`found '${token.text}', expected: identifier`);
  }

  #values(): string[] {
    const open = this.#take();
    if (!this.#isOp(open, '(')) throw new SelectorError(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (this.#isOp(first, ')')) {
      this.#take();
      return [''];
    }
    if (first.kind !== 'id' && !this.#isOp(first, ','))
      throw new SelectorError(`found '${first.text}', expected: ',', ')' or identifier`);
    const values = this.#list();
    const close = this.#take();
    if (!this.#isOp(close, ')')) throw new SelectorError(`found '${first.text}', expected: ')'`);
    return values;
  }

  #list(): string[] {
    const out: string[] = [];
    for (;;) {
      const token = this.#take();
      if (token.kind === 'id') {
        out.push(token.text);
        const next = this.#peek();
        if (this.#isOp(next, ',')) continue;
        if (this.#isOp(next, ')')) return out;
        throw new SelectorError(`found '${next.text}', expected: ',' or ')'`);
      }
      if (!this.#isOp(token, ','))
        throw new SelectorError(`found '${token.text}', expected: ',', or identifier`);
      if (out.length === 0) out.push('');
      const next = this.#peek();
      if (this.#isOp(next, ')')) return [...out, ''];
      if (this.#isOp(next, ',')) out.push('');
    }
  }
}

function checkKey(key: string): void {
  const wrong = isQualifiedName(key);
  if (wrong.length > 0) throw new SelectorError(errorText(fieldErrors.invalid('', key, wrong.join('; '))));
}

function checkValues(key: string, operator: LabelOperator, values: string[]): void {
  const texts: string[] = [];
  if (operator === 'gt' || operator === 'lt') {
    for (const [i, value] of values.entries())
      if (integer(value) === undefined)
        texts.push(
          errorText(
            fieldErrors.invalid(
              indexPath('values', i),
              value,
              "for 'Gt', 'Lt' operators, the value must be an integer",
            ),
          ),
        );
  }
  for (const [i, value] of values.entries()) {
    const wrong = isLabelValue(value);
    if (wrong.length > 0)
      texts.push(
        errorText(fieldErrors.invalid(`${indexPath('values', i)}[${key}]`, value, wrong.join('; '))),
      );
  }
  if (texts.length > 0)
    throw new SelectorError(texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`);
}

/** Parses `a=b,c in (d,e),!f`. Throws SelectorError and nothing else. */
export function parseLabelSelector(text: string): LabelSelector {
  return new Parser(text).parse();
}

export function matchesLabels(selector: LabelSelector, labels: Record<string, string> | undefined): boolean {
  return selector.every((requirement) => matches(requirement, labels ?? {}));
}

function matches({ key, operator, values }: LabelRequirement, labels: Record<string, string>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'in':
    case '=':
    case '==':
      return value !== undefined && values.includes(value);
    case 'notin':
    case '!=':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
    case 'lt': {
      const [limit, found] = [integer(values[0] ?? ''), integer(value ?? '')];
      if (limit === undefined || found === undefined) return false;
      return operator === 'gt' ? found > limit : found < limit;
    }
  }
}

/** As the server reads integers: of 64 bits. */
function integer(text: string): bigint | undefined {
  if (!/^[-+]?\d+$/.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** The selector as a canonical text: what two equal selectors share. */
export function formatLabelSelector(selector: LabelSelector): string {
  return selector
    .map(({ key, operator, values }) => {
      switch (operator) {
        case 'exists':
          return key;
        case '!':
          return `!${key}`;
        case 'in':
        case 'notin':
          return `${key} ${operator} (${values.join(',')})`;
        case 'gt':
          return `${key}>${values[0] ?? ''}`;
        case 'lt':
          return `${key}<${values[0] ?? ''}`;
        default:
          return `${key}${operator}${values[0] ?? ''}`;
      }
    })
    .join(',');
}
