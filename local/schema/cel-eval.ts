import type { CelNode } from './cel-ast.ts';
import { findOverload } from './cel-functions.ts';
import { binary, type Budget, noOverload, size, unary } from './cel-operators.ts';
import { keywordField } from './cel-schema.ts';

import {
  CelError,
  CelMap,
  CelObject,
  type CelValue,
  celCompare,
  mapKeyOf,
  NONE,
  Optional,
  TypeValue,
  typeName,
} from './cel-values.ts';

export { Budget } from './cel-operators.ts';

/** Variables in scope; an inner one hides an outer one. */
export interface Scope {
  name: string;
  value: CelValue;
  parent: Scope | undefined;
}

const TYPE_NAMES: Record<string, string> = {
  int: 'int',
  uint: 'uint',
  double: 'double',
  bool: 'bool',
  string: 'string',
  bytes: 'bytes',
  list: 'list',
  map: 'map',
  type: 'type',
  null_type: 'null_type',
};

/** Evaluates an expression. Throws CelError. */
export function evaluate(node: CelNode, scope: Scope | undefined, budget: Budget): CelValue {
  budget.spend(1);
  switch (node.kind) {
    case 'literal':
      return node.value;
    case 'ident':
      return lookup(node.name, scope);
    case 'select':
      return select(node, scope, budget);
    case 'index':
      return index(node, scope, budget);
    case 'has':
      return hasField(evaluate(node.operand, scope, budget), node.field);
    case 'and':
      return logic(node.left, node.right, false, scope, budget);
    case 'or':
      return logic(node.left, node.right, true, scope, budget);
    case 'ternary': {
      const test = evaluate(node.test, scope, budget);
      if (typeof test !== 'boolean') throw noOverload();
      return evaluate(test ? node.yes : node.no, scope, budget);
    }
    case 'unary':
      return unary(node.op, evaluate(node.operand, scope, budget));
    case 'binary': {
      const left = evaluate(node.left, scope, budget);
      const right = evaluate(node.right, scope, budget);
      return binary(node.op, left, right, budget);
    }
    case 'list':
      return listLiteral(node, scope, budget);
    case 'map':
      return mapLiteral(node, scope, budget);
    case 'macro':
      return macro(node, scope, budget);
    case 'call':
      return call(node, scope, budget);
  }
}

function lookup(name: string, scope: Scope | undefined): CelValue {
  for (let at = scope; at !== undefined; at = at.parent) if (at.name === name) return at.value;
  const type = Object.hasOwn(TYPE_NAMES, name) ? TYPE_NAMES[name] : undefined;
  if (type !== undefined) return new TypeValue(type);
  throw new CelError(`no such attribute(s): ${name}`);
}

function field(value: CelValue, name: string): CelValue | undefined {
  if (value instanceof CelObject) return value.fields.get(name) ?? value.fields.get(keywordField(name));
  if (value instanceof CelMap) return value.entries.get(name);
  throw noOverload();
}

function select(node: CelNode & { kind: 'select' }, scope: Scope | undefined, budget: Budget): CelValue {
  const qualified = qualifiedName(node);
  if (qualified === 'google.protobuf.Duration' || qualified === 'google.protobuf.Timestamp')
    return new TypeValue(qualified);
  const operand = evaluate(node.operand, scope, budget);
  if (operand instanceof Optional) {
    const found = operand.value === undefined ? undefined : field(operand.value, node.field);
    return found === undefined ? NONE : new Optional(found);
  }
  const found = field(operand, node.field);
  if (node.optional) return found === undefined ? NONE : new Optional(found);
  if (found === undefined) throw new CelError(`no such key: ${node.field}`);
  return found;
}

function qualifiedName(node: CelNode): string | undefined {
  if (node.kind === 'ident') return node.name;
  if (node.kind !== 'select') return undefined;
  const left = qualifiedName(node.operand);
  return left === undefined ? undefined : `${left}.${node.field}`;
}

function index(node: CelNode & { kind: 'index' }, scope: Scope | undefined, budget: Budget): CelValue {
  const operand = evaluate(node.operand, scope, budget);
  const key = evaluate(node.index, scope, budget);
  if (operand instanceof Optional) {
    const found = operand.value === undefined ? undefined : element(operand.value, key);
    return found === undefined ? NONE : new Optional(found);
  }
  const found = element(operand, key);
  if (node.optional) return found === undefined ? NONE : new Optional(found);
  if (found !== undefined) return found;
  const shown = String(mapKeyOf(key) ?? typeName(key));
  throw new CelError(Array.isArray(operand) ? `index out of bounds: ${shown}` : `no such key: ${shown}`);
}

function element(operand: CelValue, key: CelValue): CelValue | undefined {
  const at = mapKeyOf(key);
  if (Array.isArray(operand)) {
    if (typeof at !== 'bigint') throw noOverload();
    return at < 0n ? undefined : operand[Number(at)];
  }
  if (operand instanceof CelMap) {
    if (at === undefined) throw noOverload();
    return operand.entries.get(at);
  }
  if (operand instanceof CelObject && typeof at === 'string') return operand.fields.get(at);
  throw noOverload();
}

function hasField(operand: CelValue, name: string): boolean {
  if (operand instanceof Optional)
    return operand.value !== undefined && field(operand.value, name) !== undefined;
  return field(operand, name) !== undefined;
}

/** `&&` and `||`: an error on one side does not matter when the other side decides. */
function logic(
  left: CelNode,
  right: CelNode,
  decides: boolean,
  scope: Scope | undefined,
  budget: Budget,
): boolean {
  let failure: CelError | undefined;
  for (const side of [left, right]) {
    try {
      const value = evaluate(side, scope, budget);
      if (typeof value !== 'boolean') failure ??= noOverload();
      else if (value === decides) return decides;
    } catch (error) {
      failure ??= absorb(error, budget);
    }
  }
  if (failure !== undefined) throw failure;
  return !decides;
}

/** An exhausted budget is never absorbed: nothing may run on after it. */
function absorb(error: unknown, budget: Budget): CelError {
  if (!(error instanceof CelError) || budget.left < 0) throw error;
  return error;
}

function listLiteral(node: CelNode & { kind: 'list' }, scope: Scope | undefined, budget: Budget): CelValue {
  const out: CelValue[] = [];
  for (const item of node.items) {
    const value = evaluate(item.value, scope, budget);
    if (!item.optional) out.push(value);
    else if (value instanceof Optional && value.value !== undefined) out.push(value.value);
  }
  return out;
}

function mapLiteral(node: CelNode & { kind: 'map' }, scope: Scope | undefined, budget: Budget): CelValue {
  const out = new CelMap();
  for (const entry of node.entries) {
    const key = mapKeyOf(evaluate(entry.key, scope, budget));
    if (key === undefined) throw new CelError('unsupported key type');
    let value = evaluate(entry.value, scope, budget);
    if (entry.optional) {
      if (!(value instanceof Optional) || value.value === undefined) continue;
      value = value.value;
    }
    out.entries.set(key, value);
  }
  return out;
}

/** What a macro goes over: pairs of key (or index) and value; with one variable, a map gives its keys. */
function pairs(value: CelValue): { key: CelValue; value: CelValue; single: CelValue }[] {
  if (Array.isArray(value)) return value.map((item, i) => ({ key: BigInt(i), value: item, single: item }));
  if (value instanceof CelMap)
    return [...value.entries].map(([key, item]) => ({ key, value: item, single: key }));
  if (value instanceof CelObject)
    return [...value.fields].map(([key, item]) => ({ key, value: item, single: key }));
  throw noOverload();
}

type Macro = CelNode & { kind: 'macro' };

function macro(node: Macro, scope: Scope | undefined, budget: Budget): CelValue {
  const target = evaluate(node.target, scope, budget);
  if (node.macro === 'optMap' || node.macro === 'optFlatMap') {
    if (!(target instanceof Optional)) throw noOverload();
    if (target.value === undefined) return NONE;
    const inner = bind(node, [target.value], scope);
    const value = evaluate(arg(node, 0), inner, budget);
    return node.macro === 'optMap' ? new Optional(value) : value;
  }
  const items = pairs(target);
  const scopeOf = (item: { key: CelValue; value: CelValue; single: CelValue }): Scope | undefined =>
    bind(node, node.vars.length === 1 ? [item.single] : [item.key, item.value], scope);
  switch (node.macro) {
    case 'all':
      return quantify(items.map(scopeOf), arg(node, 0), false, budget);
    case 'exists':
      return quantify(items.map(scopeOf), arg(node, 0), true, budget);
    case 'exists_one':
      return items.filter((item) => test(arg(node, 0), scopeOf(item), budget)).length === 1;
    case 'filter': {
      const kept = items.filter((item) => test(arg(node, 0), scopeOf(item), budget));
      return kept.map((item) => item.single);
    }
    case 'sortBy': {
      const keyed = items.map((item) => ({ item, by: evaluate(arg(node, 0), scopeOf(item), budget) }));
      keyed.sort((a, b) => celCompare(a.by, b.by) ?? 0);
      return keyed.map(({ item }) => item.value);
    }
    case 'map':
    case 'transformList':
      return transform(node, items.map(scopeOf), budget);
    case 'transformMap':
    case 'transformMapEntry':
      return transformMap(node, items, scopeOf, budget);
  }
}

function arg(node: Macro, i: number): CelNode {
  const found = node.args[i];
  if (found === undefined) throw noOverload();
  return found;
}

function bind(node: Macro, values: CelValue[], scope: Scope | undefined): Scope | undefined {
  let inner = scope;
  for (const [i, name] of node.vars.entries()) inner = { name, value: values[i] ?? null, parent: inner };
  return inner;
}

function test(node: CelNode, scope: Scope | undefined, budget: Budget): boolean {
  const value = evaluate(node, scope, budget);
  if (typeof value !== 'boolean') throw noOverload();
  return value;
}

function quantify(
  scopes: (Scope | undefined)[],
  predicate: CelNode,
  decides: boolean,
  budget: Budget,
): boolean {
  let failure: CelError | undefined;
  for (const scope of scopes) {
    try {
      if (test(predicate, scope, budget) === decides) return decides;
    } catch (error) {
      failure ??= absorb(error, budget);
    }
  }
  if (failure !== undefined) throw failure;
  return !decides;
}

function transform(node: Macro, scopes: (Scope | undefined)[], budget: Budget): CelValue {
  const out: CelValue[] = [];
  for (const scope of scopes) {
    if (node.args.length === 2 && !test(arg(node, 0), scope, budget)) continue;
    out.push(evaluate(arg(node, node.args.length - 1), scope, budget));
  }
  return out;
}

function transformMap(
  node: Macro,
  items: { key: CelValue; value: CelValue; single: CelValue }[],
  scopeOf: (item: { key: CelValue; value: CelValue; single: CelValue }) => Scope | undefined,
  budget: Budget,
): CelValue {
  const out = new CelMap();
  for (const item of items) {
    const scope = scopeOf(item);
    if (node.args.length === 2 && !test(arg(node, 0), scope, budget)) continue;
    const value = evaluate(arg(node, node.args.length - 1), scope, budget);
    if (node.macro === 'transformMap') {
      const key = mapKeyOf(item.key);
      if (key !== undefined) out.entries.set(key, value);
    } else if (value instanceof CelMap) {
      for (const [key, entry] of value.entries) {
        if (out.entries.has(key)) throw new CelError(`insert failed: key ${String(key)} already exists`);
        out.entries.set(key, entry);
      }
    } else throw noOverload();
  }
  return out;
}

function call(node: CelNode & { kind: 'call' }, scope: Scope | undefined, budget: Budget): CelValue {
  let { target } = node;
  let { name } = node;
  // `format.dns1123Label()`, `sets.contains(a, b)`: a name in a namespace, not a method of a value
  const space = target === undefined ? undefined : qualifiedName(target);
  if (space !== undefined && NAMESPACES.has(space) && !inScope(space, scope)) {
    name = `${space}.${name}`;
    target = undefined;
  }
  if (target !== undefined && name === 'orValue' && node.args[0] !== undefined) {
    const value = evaluate(target, scope, budget);
    if (!(value instanceof Optional)) throw noOverload();
    return value.value ?? evaluate(node.args[0], scope, budget);
  }
  if (target !== undefined && name === 'or' && node.args[0] !== undefined) {
    const value = evaluate(target, scope, budget);
    if (!(value instanceof Optional)) throw noOverload();
    return value.value === undefined ? evaluate(node.args[0], scope, budget) : value;
  }
  const args: CelValue[] = target === undefined ? [] : [evaluate(target, scope, budget)];
  for (const argument of node.args) args.push(evaluate(argument, scope, budget));
  const overload = findOverload(name, target !== undefined, args);
  if (overload === undefined) throw noOverload();
  for (const value of args) budget.spend(size(value) / 10);
  return overload(...args);
}

const NAMESPACES = new Set(['sets', 'format', 'optional', 'ip', 'math', 'strings', 'lists', 'base64']);

function inScope(name: string, scope: Scope | undefined): boolean {
  for (let at = scope; at !== undefined; at = at.parent) if (at.name === name) return true;
  return false;
}
