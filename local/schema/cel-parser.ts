import type { BinaryOp, CelNode, MacroName } from './cel-ast.ts';
import { CelSyntaxError, type Token, tokenize } from './cel-lexer.ts';
import { CelError } from './cel-values.ts';

export { CelSyntaxError } from './cel-lexer.ts';

/** Bounds against hostile input: depth of nesting and length of an expression. */
const MAX_DEPTH = 120;
const MAX_LENGTH = 100_000;

const RESERVED = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const RELATIONS = new Set(['<', '<=', '>', '>=', '==', '!=']);

class Parser {
  readonly #tokens: Token[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    if (source.length > MAX_LENGTH)
      throw new CelSyntaxError(
        `expression code point size exceeds limit: size: ${source.length}, limit ${MAX_LENGTH}`,
        0,
      );
    this.#tokens = tokenize(source);
  }

  parse(): CelNode {
    const node = this.#expression();
    this.#expectEnd();
    return node;
  }

  get #token(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '<EOF>', pos: 0 };
  }

  #next(): Token {
    const token = this.#token;
    if (token.kind !== 'end') this.#at++;
    return token;
  }

  #is(text: string): boolean {
    return this.#token.kind === 'op' && this.#token.text === text;
  }

  #accept(text: string): Token | undefined {
    return this.#is(text) ? this.#next() : undefined;
  }

  #expect(text: string): Token {
    const token = this.#accept(text);
    if (token === undefined) {
      const found = this.#token;
      const shown = found.kind === 'end' ? '<EOF>' : found.text;
      throw new CelSyntaxError(`Syntax error: missing '${text}' at '${shown}'`, found.pos);
    }
    return token;
  }

  #expectEnd(): void {
    if (this.#token.kind !== 'end') throw this.#unexpected('expecting <EOF>');
  }

  #unexpected(wanted: string): CelSyntaxError {
    const token = this.#token;
    const shown = token.kind === 'end' ? '<EOF>' : token.text;
    return new CelSyntaxError(`Syntax error: mismatched input '${shown}' ${wanted}`, token.pos);
  }

  #expression(): CelNode {
    if (++this.#depth > MAX_DEPTH)
      throw new CelSyntaxError(`expression recursion limit exceeded: ${MAX_DEPTH}`, this.#token.pos);
    let node = this.#or();
    const question = this.#accept('?');
    if (question !== undefined) {
      const yes = this.#or();
      if (this.#accept(':') === undefined) throw this.#unexpected("expecting ':'");
      node = { kind: 'ternary', pos: question.pos, test: node, yes, no: this.#expression() };
    }
    this.#depth--;
    return node;
  }

  #or(): CelNode {
    let left = this.#and();
    for (let op = this.#accept('||'); op !== undefined; op = this.#accept('||'))
      left = { kind: 'or', pos: op.pos, left, right: this.#and() };
    return left;
  }

  #and(): CelNode {
    let left = this.#relation();
    for (let op = this.#accept('&&'); op !== undefined; op = this.#accept('&&'))
      left = { kind: 'and', pos: op.pos, left, right: this.#relation() };
    return left;
  }

  #relation(): CelNode {
    let left = this.#sum();
    for (;;) {
      const token = this.#token;
      const isIn = token.kind === 'ident' && token.text === 'in';
      if (!isIn && !(token.kind === 'op' && RELATIONS.has(token.text))) return left;
      this.#next();
      left = { kind: 'binary', pos: token.pos, op: token.text as BinaryOp, left, right: this.#sum() };
    }
  }

  #sum(): CelNode {
    let left = this.#product();
    while (this.#is('+') || this.#is('-')) {
      const token = this.#next();
      left = { kind: 'binary', pos: token.pos, op: token.text as BinaryOp, left, right: this.#product() };
    }
    return left;
  }

  #product(): CelNode {
    let left = this.#unary();
    while (this.#is('*') || this.#is('/') || this.#is('%')) {
      const token = this.#next();
      left = { kind: 'binary', pos: token.pos, op: token.text as BinaryOp, left, right: this.#unary() };
    }
    return left;
  }

  #unary(): CelNode {
    const token = this.#token;
    if (this.#is('!') || this.#is('-')) {
      let count = 0;
      const op = token.text as '!' | '-';
      while (this.#accept(op) !== undefined) count++;
      const next = this.#token;
      if (op === '-' && count === 1 && (next.kind === 'int' || next.kind === 'double')) {
        const operand = this.#member();
        if (operand.kind === 'literal' && typeof operand.value === 'bigint')
          return { ...operand, pos: token.pos, value: -operand.value };
        if (operand.kind === 'literal' && typeof operand.value === 'number')
          return { ...operand, pos: token.pos, value: -operand.value };
        return { kind: 'unary', pos: token.pos, op, operand };
      }
      const operand = this.#member();
      return count % 2 === 0 ? operand : { kind: 'unary', pos: token.pos, op, operand };
    }
    return this.#member();
  }

  #member(): CelNode {
    let node = this.#primary();
    for (let links = 0; ; links++) {
      if (links > 1000) throw new CelSyntaxError('expression recursion limit exceeded', this.#token.pos);
      const dot = this.#accept('.');
      if (dot !== undefined) {
        const optional = this.#accept('?') !== undefined;
        const name = this.#token;
        if (name.kind !== 'ident') throw this.#unexpected('expecting IDENTIFIER');
        this.#next();
        const paren = optional ? undefined : this.#accept('(');
        if (paren === undefined) {
          node = { kind: 'select', pos: dot.pos, operand: node, field: name.text, optional };
        } else node = this.#method(node, name.text, paren.pos, this.#arguments(')'));
        continue;
      }
      const bracket = this.#accept('[');
      if (bracket === undefined) return node;
      const optional = this.#accept('?') !== undefined;
      const index = this.#expression();
      this.#expect(']');
      node = { kind: 'index', pos: bracket.pos, operand: node, index, optional };
    }
  }

  #arguments(close: string): CelNode[] {
    const args: CelNode[] = [];
    if (this.#accept(close) !== undefined) return args;
    do {
      args.push(this.#expression());
    } while (this.#accept(',') !== undefined);
    this.#expect(close);
    return args;
  }

  #primary(): CelNode {
    const token = this.#token;
    switch (token.kind) {
      case 'int':
      case 'uint':
      case 'double':
      case 'string':
      case 'bytes':
        this.#next();
        if (token.kind === 'int' && typeof token.value === 'bigint' && token.value > 2n ** 63n)
          throw new CelSyntaxError('invalid int literal', token.pos);
        return { kind: 'literal', pos: token.pos, value: token.value ?? null };
      case 'ident':
        return this.#identifier();
      case 'op':
        break;
      default:
        throw this.#unexpected(
          "expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
        );
    }
    if (this.#accept('(') !== undefined) {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#accept('.') !== undefined) return this.#identifier();
    if (this.#accept('[') !== undefined) return this.#list(token.pos);
    if (this.#accept('{') !== undefined) return this.#map(token.pos);
    throw new CelSyntaxError(
      `Syntax error: extraneous input '${token.text}' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`,
      token.pos,
    );
  }

  #list(pos: number): CelNode {
    const items: { value: CelNode; optional: boolean }[] = [];
    while (!this.#is(']')) {
      const optional = this.#accept('?') !== undefined;
      items.push({ value: this.#expression(), optional });
      if (this.#accept(',') === undefined) break;
    }
    this.#expect(']');
    return { kind: 'list', pos, items };
  }

  #map(pos: number): CelNode {
    const entries: { key: CelNode; value: CelNode; optional: boolean }[] = [];
    while (!this.#is('}')) {
      const optional = this.#accept('?') !== undefined;
      const key = this.#expression();
      this.#expect(':');
      entries.push({ key, value: this.#expression(), optional });
      if (this.#accept(',') === undefined) break;
    }
    this.#expect('}');
    return { kind: 'map', pos, entries };
  }

  #identifier(): CelNode {
    const token = this.#next();
    if (token.kind !== 'ident')
      throw new CelSyntaxError(
        `Syntax error: mismatched input '${token.text}' expecting IDENTIFIER`,
        token.pos,
      );
    if (token.text === 'true' || token.text === 'false')
      return { kind: 'literal', pos: token.pos, value: token.text === 'true' };
    if (token.text === 'null') return { kind: 'literal', pos: token.pos, value: null };
    if (token.text === 'in') throw new CelSyntaxError("Syntax error: mismatched input 'in'", token.pos);
    if (RESERVED.has(token.text)) throw new CelSyntaxError(`reserved identifier: ${token.text}`, token.pos);
    const paren = this.#accept('(');
    if (paren === undefined) return { kind: 'ident', pos: token.pos, name: token.text };
    const args = this.#arguments(')');
    if (token.text === 'has' && args.length === 1) {
      const arg = args[0];
      if (arg?.kind !== 'select' || arg.optional)
        throw new CelSyntaxError('invalid argument to has() macro', arg?.pos ?? token.pos);
      return { kind: 'has', pos: paren.pos, operand: arg.operand, field: arg.field };
    }
    return { kind: 'call', pos: paren.pos, name: token.text, args };
  }

  #method(target: CelNode, name: string, pos: number, args: CelNode[]): CelNode {
    const macro = macroOf(name, args.length);
    if (macro === undefined) return { kind: 'call', pos, name, target, args };
    if (macro.name === 'sortBy' && args[0]?.kind !== 'ident')
      return { kind: 'call', pos, name, target, args };
    const vars = args.slice(0, macro.vars).map((arg) => simpleName(arg, 'argument must be a simple name'));
    return { kind: 'macro', pos, macro: macro.name, target, vars, args: args.slice(macro.vars) };
  }
}

function simpleName(node: CelNode, message: string): string {
  if (node.kind === 'ident') return node.name;
  throw new CelSyntaxError(message, node.pos);
}

const MACROS: Record<string, { name: MacroName; vars: number }> = {
  'all/2': { name: 'all', vars: 1 },
  'all/3': { name: 'all', vars: 2 },
  'exists/2': { name: 'exists', vars: 1 },
  'exists/3': { name: 'exists', vars: 2 },
  'exists_one/2': { name: 'exists_one', vars: 1 },
  'existsOne/2': { name: 'exists_one', vars: 1 },
  'existsOne/3': { name: 'exists_one', vars: 2 },
  'map/2': { name: 'map', vars: 1 },
  'map/3': { name: 'map', vars: 1 },
  'filter/2': { name: 'filter', vars: 1 },
  'transformList/3': { name: 'transformList', vars: 2 },
  'transformList/4': { name: 'transformList', vars: 2 },
  'transformMap/3': { name: 'transformMap', vars: 2 },
  'transformMap/4': { name: 'transformMap', vars: 2 },
  'transformMapEntry/3': { name: 'transformMapEntry', vars: 2 },
  'transformMapEntry/4': { name: 'transformMapEntry', vars: 2 },
  'sortBy/2': { name: 'sortBy', vars: 1 },
  'optMap/2': { name: 'optMap', vars: 1 },
  'optFlatMap/2': { name: 'optFlatMap', vars: 1 },
};

function macroOf(name: string, count: number): { name: MacroName; vars: number } | undefined {
  const key = `${name}/${count}`;
  return Object.hasOwn(MACROS, key) ? MACROS[key] : undefined;
}

/** Parses an expression. Throws CelSyntaxError and nothing else. */
export function parseCel(source: string): CelNode {
  try {
    return new Parser(source).parse();
  } catch (error) {
    if (error instanceof CelSyntaxError) throw error;
    if (error instanceof CelError) throw new CelSyntaxError(error.message, 0);
    throw error;
  }
}
