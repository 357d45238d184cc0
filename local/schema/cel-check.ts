import type { CelNode } from './cel-ast.ts';
import { overloadsOf } from './cel-functions.ts';
import { checkLiterals } from './cel-literals.ts';
import { binaryType, fits, isNumber, joined, unwrap } from './cel-operator-types.ts';
import { CelSyntaxError, parseCel } from './cel-parser.ts';
import { keywordField } from './cel-schema.ts';
import {
  assignable,
  type Bindings,
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  formatType,
  INT,
  listOf,
  mapOf,
  NULL,
  STRING,
  substitute,
  TIMESTAMP,
  UINT,
} from './cel-types.ts';
import { type CelValue, Duration, Timestamp, typeName, Uint } from './cel-values.ts';

export type Checked =
  | { node: CelNode; type: CelType; variables: Set<string> }
  /** All errors, with the source line and a mark under the place, as cel-go prints them. */
  | { errors: string };

class Checker {
  readonly errors: { message: string; pos: number }[] = [];
  /** The outer variables that the expression uses. */
  readonly used = new Set<string>();
  readonly #outer: Map<string, CelType>;

  constructor(outer: Map<string, CelType>) {
    this.#outer = outer;
  }

  fail(pos: number, message: string): CelType {
    this.errors.push({ message, pos });
    return DYN;
  }

  check(node: CelNode, locals: Map<string, CelType>): CelType {
    switch (node.kind) {
      case 'literal':
        return literalType(node.value);
      case 'ident':
        return this.#ident(node, locals);
      case 'select':
        return this.#select(node, locals);
      case 'has': {
        const operand = this.check(node.operand, locals);
        this.#field(unwrap(operand), node.field, node.pos);
        return BOOL;
      }
      case 'index':
        return this.#index(node, locals);
      case 'and':
      case 'or': {
        const left = this.check(node.left, locals);
        const right = this.check(node.right, locals);
        this.#expect(node.left, left, BOOL);
        this.#expect(node.right, right, BOOL);
        return BOOL;
      }
      case 'ternary': {
        const test = this.check(node.test, locals);
        const yes = this.check(node.yes, locals);
        const no = this.check(node.no, locals);
        if (!fits(test, BOOL)) return this.#noOverload(node.pos, '_?_:_', [test, yes, no]);
        if (fits(yes, no)) return yes.kind === 'dyn' ? yes : joined(yes, no);
        if (fits(no, yes)) return yes;
        return this.#noOverload(node.pos, '_?_:_', [test, yes, no]);
      }
      case 'unary':
        return this.#unary(node, locals);
      case 'binary':
        return this.#binary(node, locals);
      case 'list':
        return listOf(this.#common(node.items.map((item) => this.#item(item, locals))));
      case 'map': {
        const keys = node.entries.map(({ key }) => ({ type: this.check(key, locals), pos: key.pos }));
        const values = node.entries.map((entry) => this.#item(entry, locals));
        return mapOf(this.#common(keys), this.#common(values));
      }
      case 'macro':
        return this.#macro(node, locals);
      case 'call':
        return this.#call(node, locals);
    }
  }

  #ident(node: CelNode & { kind: 'ident' }, locals: Map<string, CelType>): CelType {
    const local = locals.get(node.name);
    if (local !== undefined) return local;
    const outer = this.#outer.get(node.name);
    if (outer !== undefined) {
      this.used.add(node.name);
      return outer;
    }
    const type = Object.hasOwn(TYPE_IDENTS, node.name) ? TYPE_IDENTS[node.name] : undefined;
    if (type !== undefined) return { kind: 'type', of: type };
    return this.fail(node.pos, `undeclared reference to '${node.name}' (in container '')`);
  }

  #select(node: CelNode & { kind: 'select' }, locals: Map<string, CelType>): CelType {
    const space = qualified(node);
    if (space === 'google.protobuf.Duration') return { kind: 'type', of: DURATION };
    if (space === 'google.protobuf.Timestamp') return { kind: 'type', of: TIMESTAMP };
    const operand = this.check(node.operand, locals);
    const found = this.#field(unwrap(operand), node.field, node.pos);
    return node.optional || operand.kind === 'optional' ? { kind: 'optional', of: found } : found;
  }

  #field(operand: CelType, name: string, pos: number): CelType {
    switch (operand.kind) {
      case 'dyn':
      case 'param':
        return DYN;
      case 'map':
        return operand.value;
      case 'object':
        return (
          operand.fields.get(name) ??
          operand.fields.get(keywordField(name)) ??
          this.fail(pos, `undefined field '${name}'`)
        );
      default:
        return this.fail(pos, `type '${formatType(operand)}' does not support field selection`);
    }
  }

  #index(node: CelNode & { kind: 'index' }, locals: Map<string, CelType>): CelType {
    const operand = this.check(node.operand, locals);
    const index = this.check(node.index, locals);
    const inner = unwrap(operand);
    let found: CelType | undefined;
    if (inner.kind === 'dyn' || inner.kind === 'param') found = DYN;
    else if (inner.kind === 'list' && (fits(index, INT) || isNumber(index))) found = inner.elem;
    else if (inner.kind === 'map' && fits(index, inner.key)) found = inner.value;
    found ??= this.#noOverload(node.pos, node.optional ? '_[?_]' : '_[_]', [operand, index]);
    return node.optional || operand.kind === 'optional' ? { kind: 'optional', of: found } : found;
  }

  #unary(node: CelNode & { kind: 'unary' }, locals: Map<string, CelType>): CelType {
    const operand = this.check(node.operand, locals);
    if (node.op === '!') return fits(operand, BOOL) ? BOOL : this.#noOverload(node.pos, '!_', [operand]);
    if (operand.kind === 'dyn' || fits(operand, INT) || fits(operand, DOUBLE)) return operand;
    return this.#noOverload(node.pos, '-_', [operand]);
  }

  #binary(node: CelNode & { kind: 'binary' }, locals: Map<string, CelType>): CelType {
    const left = this.check(node.left, locals);
    const right = this.check(node.right, locals);
    const result = binaryType(node.op, left, right);
    const name = node.op === 'in' ? '@in' : `_${node.op}_`;
    return result ?? this.#noOverload(node.pos, name, [left, right]);
  }

  #expect(node: CelNode, found: CelType, wanted: CelType): void {
    if (!fits(found, wanted))
      this.fail(node.pos, `expected type '${formatType(wanted)}' but found '${formatType(found)}'`);
  }

  #item(
    item: { value: CelNode; optional: boolean },
    locals: Map<string, CelType>,
  ): { type: CelType; pos: number } {
    const type = this.check(item.value, locals);
    return { type: item.optional ? unwrap(type) : type, pos: item.value.pos };
  }

  /** Literals of lists and maps hold one type; what it is, the first element says. */
  #common(types: { type: CelType; pos: number }[]): CelType {
    const [first, ...rest] = types;
    if (first === undefined) return DYN;
    let common = first.type;
    for (const { type, pos } of rest) {
      if (fits(type, common)) common = joined(common, type);
      else this.fail(pos, `expected type '${formatType(common)}' but found '${formatType(type)}'`);
    }
    return common;
  }

  #macro(node: CelNode & { kind: 'macro' }, locals: Map<string, CelType>): CelType {
    const range = this.check(node.target, locals);
    if (node.macro === 'optMap' || node.macro === 'optFlatMap') {
      const inner = new Map([...locals, [node.vars[0] ?? '', unwrap(range)] as const]);
      const result = this.#arg(node, 0, inner);
      return node.macro === 'optMap' ? { kind: 'optional', of: result } : result;
    }
    const scope = new Map(locals);
    const [first = '', second] = node.vars;
    if (range.kind === 'list') {
      scope.set(first, second === undefined ? range.elem : INT);
      if (second !== undefined) scope.set(second, range.elem);
    } else if (range.kind === 'map') {
      scope.set(first, range.key);
      if (second !== undefined) scope.set(second, range.value);
    } else {
      scope.set(first, DYN);
      if (second !== undefined) scope.set(second, DYN);
      if (range.kind !== 'dyn' && range.kind !== 'param')
        this.fail(
          node.target.pos,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
    }
    return this.#macroResult(node, range, scope);
  }

  #macroResult(node: CelNode & { kind: 'macro' }, range: CelType, scope: Map<string, CelType>): CelType {
    const element = scope.get(node.vars[0] ?? '') ?? DYN;
    switch (node.macro) {
      case 'all':
      case 'exists':
      case 'exists_one':
        this.#predicate(
          node,
          node.macro === 'exists' ? '_||_' : node.macro === 'all' ? '_&&_' : '_?_:_',
          scope,
        );
        return BOOL;
      case 'filter':
        this.#predicate(node, '_?_:_', scope);
        return listOf(element);
      case 'sortBy':
        this.#arg(node, 0, scope);
        return range;
      case 'map':
      case 'transformList':
        if (node.args.length === 2) this.#predicate(node, '_?_:_', scope);
        return listOf(this.#arg(node, node.args.length - 1, scope));
      case 'transformMap':
        if (node.args.length === 2) this.#predicate(node, '_?_:_', scope);
        return mapOf(element, this.#arg(node, node.args.length - 1, scope));
      default:
        if (node.args.length === 2) this.#predicate(node, '_?_:_', scope);
        return this.#arg(node, node.args.length - 1, scope);
    }
  }

  #arg(node: CelNode & { kind: 'macro' }, i: number, scope: Map<string, CelType>): CelType {
    const found = node.args[i];
    return found === undefined ? DYN : this.check(found, scope);
  }

  #predicate(node: CelNode & { kind: 'macro' }, op: string, scope: Map<string, CelType>): void {
    const type = this.#arg(node, 0, scope);
    if (!fits(type, BOOL)) this.#noOverload(node.pos, op, op === '_?_:_' ? [type] : [BOOL, type]);
  }

  #call(node: CelNode & { kind: 'call' }, locals: Map<string, CelType>): CelType {
    const space = node.target === undefined ? undefined : qualified(node.target);
    const spaced = space === undefined ? '' : `${space}.${node.name}`;
    if (
      space !== undefined &&
      !locals.has(space) &&
      !this.#outer.has(space) &&
      overloadsOf(spaced).length > 0
    )
      return this.#resolve(node.pos, spaced, undefined, this.#types(node.args, locals));
    const target = node.target === undefined ? undefined : this.check(node.target, locals);
    const [first] = node.args;
    // format() takes a list of anything, and only there may a literal be one.
    if (node.name === 'format' && target !== undefined && node.args.length === 1 && first?.kind === 'list') {
      for (const item of first.items) this.#item(item, locals);
      return this.#resolve(node.pos, node.name, target, [listOf(DYN)]);
    }
    return this.#resolve(node.pos, node.name, target, this.#types(node.args, locals));
  }

  #types(args: CelNode[], locals: Map<string, CelType>): CelType[] {
    return args.map((arg) => this.check(arg, locals));
  }

  #resolve(pos: number, name: string, target: CelType | undefined, args: CelType[]): CelType {
    const overloads = overloadsOf(name);
    if (overloads.length === 0) return this.fail(pos, `undeclared reference to '${name}' (in container '')`);
    const all = target === undefined ? args : [target, ...args];
    const results: CelType[] = [];
    for (const overload of overloads) {
      if (overload.member !== (target !== undefined) || overload.params.length !== all.length) continue;
      const bindings: Bindings = new Map();
      if (overload.params.every((param, i) => assignable(all[i] ?? DYN, param, bindings)))
        results.push(substitute(overload.result, bindings));
    }
    const [first, ...rest] = results;
    if (first === undefined) return this.#noOverload(pos, name, args, target);
    // Several candidates (an argument is dyn): only what they agree on is known.
    return rest.every((type) => formatType(type) === formatType(first)) ? first : DYN;
  }

  #noOverload(pos: number, name: string, args: CelType[], target?: CelType): CelType {
    const list = `(${args.map(formatType).join(', ')})`;
    const applied = target === undefined ? list : `${formatType(target)}.${list}`;
    return this.fail(pos, `found no matching overload for '${name}' applied to '${applied}'`);
  }
}

const TYPE_IDENTS: Record<string, CelType> = {
  int: INT,
  uint: UINT,
  double: DOUBLE,
  bool: BOOL,
  string: STRING,
  bytes: BYTES,
  list: listOf(DYN),
  map: mapOf(DYN, DYN),
  null_type: NULL,
  type: { kind: 'type', of: DYN },
};

function qualified(node: CelNode): string | undefined {
  if (node.kind === 'ident') return node.name;
  if (node.kind !== 'select') return undefined;
  const left = qualified(node.operand);
  return left === undefined ? undefined : `${left}.${node.field}`;
}

function literalType(value: CelValue): CelType {
  if (value === null) return NULL;
  if (value instanceof Uint) return UINT;
  if (value instanceof Duration) return DURATION;
  if (value instanceof Timestamp) return TIMESTAMP;
  return { kind: 'prim', name: typeName(value) };
}

/** Parses and type-checks an expression over the variables given. */
export function checkCel(source: string, variables: Map<string, CelType>): Checked {
  let node: CelNode;
  try {
    node = parseCel(source);
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error;
    return { errors: showError(source, error.message, error.pos) };
  }
  const checker = new Checker(variables);
  const type = checker.check(node, new Map());
  if (checker.errors.length === 0) checkLiterals(node, (pos, message) => checker.fail(pos, message));
  if (checker.errors.length > 0)
    return {
      errors: checker.errors
        .sort((a, b) => a.pos - b.pos)
        .map(({ message, pos }) => showError(source, message, pos))
        .join('\n'),
    };
  return { node, type, variables: checker.used };
}

function showError(source: string, message: string, pos: number): string {
  const before = source.slice(0, pos).split('\n');
  const column = Array.from(before.at(-1) ?? '').length;
  const line = source.split('\n')[before.length - 1] ?? '';
  return `ERROR: <input>:${before.length}:${column + 1}: ${message}\n | ${line}\n | ${'.'.repeat(column)}^`;
}
