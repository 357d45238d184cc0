import type { CelNode } from './cel-ast.ts';
import { checkCel } from './cel-check.ts';
import { constantError } from './cel-constants.ts';
import { Budget, evaluate, type Scope } from './cel-eval.ts';
import { validFieldPath } from './cel-field-path.ts';
import { declaredType, toCel } from './cel-schema.ts';
import { BOOL, type CelType, STRING } from './cel-types.ts';
import { CelError, type CelValue, NONE, Optional } from './cel-values.ts';
import { type Old, oldItem, oldMember, unchanged } from './correlate.ts';
import type { JSONSchemaProps, ValidationRule } from './crd-types.ts';
import { childPath, type FieldError, fieldErrors, indexPath, keyPath } from './field-error.ts';
import { isObject, type Json } from './json.ts';

export interface CompiledRule {
  rule: ValidationRule;
  program?: CelNode;
  /** Why the rule does not compile; `compilation failed: ...`. */
  error?: string;
  message?: CelNode;
  messageError?: string;
  usesOldSelf: boolean;
  fieldPath: string;
}

/** The rules of a schema and of what is below it; only the branches that have rules are there. */
export interface RuleTree {
  schema: JSONSchemaProps;
  isRoot: boolean;
  rules: CompiledRule[];
  properties: Map<string, RuleTree>;
  items?: RuleTree;
  additional?: RuleTree;
  allOf: RuleTree[];
}

/** `isRoot`: the schema is of a resource, whose rules see its type and name too. */
export function compileRules(schema: JSONSchemaProps, isRoot = true): RuleTree | undefined {
  return compileNode(schema, schema, isRoot);
}

/** `rules` is where rules are read from: the schema itself, or a branch of its allOf. */
function compileNode(rules: JSONSchemaProps, schema: JSONSchemaProps, isRoot: boolean): RuleTree | undefined {
  const tree: RuleTree = { schema, isRoot, rules: [], properties: new Map(), allOf: [] };
  const found = rules['x-kubernetes-validations'] ?? [];
  if (found.length > 0) {
    const self = declaredType(schema, isRoot, 'selfType');
    tree.rules = found.map((rule) => compileRule(rule, schema, self));
  }
  for (const [key, property] of Object.entries(rules.properties ?? {})) {
    const node = schema.properties?.[key];
    const sub = node === undefined ? undefined : compileNode(property, node, embedded(node));
    if (sub !== undefined) tree.properties.set(key, sub);
  }
  if (rules.items !== undefined && schema.items !== undefined) {
    const sub = compileNode(rules.items, schema.items, embedded(schema.items));
    if (sub !== undefined) tree.items = sub;
  }
  if (typeof rules.additionalProperties === 'object' && typeof schema.additionalProperties === 'object') {
    const node = schema.additionalProperties;
    const sub = compileNode(rules.additionalProperties, node, embedded(node));
    if (sub !== undefined) tree.additional = sub;
  }
  for (const branch of rules.allOf ?? []) {
    const sub = compileNode(branch, schema, isRoot);
    if (sub !== undefined) tree.allOf.push(sub);
  }
  const empty =
    tree.rules.length === 0 &&
    tree.properties.size === 0 &&
    tree.allOf.length === 0 &&
    tree.items === undefined &&
    tree.additional === undefined;
  return empty ? undefined : tree;
}

const embedded = (schema: JSONSchemaProps): boolean => schema['x-kubernetes-embedded-resource'] === true;

export function compileRule(
  rule: ValidationRule,
  schema: JSONSchemaProps,
  self: CelType | undefined,
): CompiledRule {
  const out: CompiledRule = { rule, usesOldSelf: false, fieldPath: '' };
  if (rule.rule.trim() === '') return out;
  if (self === undefined) return { ...out, error: 'failed to convert to declType for CEL validation rules' };
  const variables = new Map<string, CelType>([
    ['self', self],
    ['oldSelf', rule.optionalOldSelf === true ? { kind: 'optional', of: self } : self],
  ]);
  const compiled = checkCel(rule.rule, variables);
  if ('errors' in compiled) return { ...out, error: `compilation failed: ${compiled.errors}` };
  if (!isType(compiled.type, BOOL)) return { ...out, error: 'cel expression must evaluate to a bool' };
  const folded = constantError(compiled.node);
  if (folded !== undefined) return { ...out, error: `program instantiation failed: ${folded}` };
  out.program = compiled.node;
  out.usesOldSelf = compiled.variables.has('oldSelf');
  if (rule.messageExpression !== undefined && rule.messageExpression !== '') {
    const message = checkCel(rule.messageExpression, variables);
    if ('errors' in message) out.messageError = `messageExpression compilation failed: ${message.errors}`;
    else if (!isType(message.type, STRING)) out.messageError = 'messageExpression must evaluate to a string';
    else {
      const wrong = constantError(message.node);
      if (wrong === undefined) out.message = message.node;
      else out.messageError = `messageExpression instantiation failed: ${wrong}`;
    }
  }
  if (rule.fieldPath !== undefined && rule.fieldPath !== '') {
    const path = validFieldPath(rule.fieldPath, schema);
    if ('path' in path) out.fieldPath = path.path.replace(/^\./, '');
  }
  return out;
}

const isType = (found: CelType, wanted: CelType): boolean =>
  found.kind === 'prim' && wanted.kind === 'prim' && found.name === wanted.name;

/** Steps for one rule and for one object: the server's limits, in units that are about its own. */
const PER_RULE = 1_000_000;
const PER_OBJECT = 10_000_000;

class OutOfBudget extends Error {}

interface Run {
  left: number;
  errors: FieldError[];
  /** What an update left as it was stored: said as a warning. */
  ratcheted: FieldError[];
}

/**
 * Runs every rule against an object. On an update, `old` is what is stored; what fails but has not changed is
 * `ratcheted`.
 */
export function validateRules(
  tree: RuleTree,
  object: Json,
  old: Json | undefined,
  path = '',
): { errors: FieldError[]; ratcheted: FieldError[] } {
  const run: Run = { left: PER_OBJECT, errors: [], ratcheted: [] };
  const before: Old = old === undefined ? undefined : { value: old };
  try {
    validateNode(tree, object, path, before, before, run);
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
  }
  return run;
}

/**
 * `old` is what rules see as oldSelf; `near` is the nearest place that has an old value at all: where that has not
 * changed, a failing rule is not held against the update (ratcheting).
 */
function validateNode(
  tree: RuleTree,
  value: Json,
  path: string,
  old: Old,
  near: Old,
  run: Run,
  nearValue = value,
): void {
  if (value === null) return;
  // Asked for a rule that fails alone: most hold, and it compares all that there is.
  const same = (): boolean => (old === undefined ? unchanged(near, nearValue) : unchanged(old, value));
  runRules(tree, value, path, old, same, run);
  for (const branch of tree.allOf) validateNode(branch, value, path, old, undefined, run);
  if (Array.isArray(value)) {
    if (tree.items === undefined) return;
    for (const [i, item] of value.entries()) {
      const before = oldItem(old, tree.schema, item);
      validateNode(
        tree.items,
        item,
        indexPath(path, i),
        before,
        ...nearest(old, value, near, nearValue, run),
      );
    }
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      const before = oldMember(old, tree.schema, key);
      const property = tree.properties.get(key);
      if (tree.additional !== undefined && !Object.hasOwn(tree.schema.properties ?? {}, key))
        validateNode(
          tree.additional,
          item,
          keyPath(path, key),
          before,
          ...nearest(old, value, near, nearValue, run),
        );
      if (property !== undefined)
        validateNode(
          property,
          item,
          childPath(path, key),
          before,
          ...nearest(old, value, near, nearValue, run),
        );
    }
  }
}

function nearest(old: Old, value: Json, near: Old, nearValue: Json, run: Run): [Old, Run, Json] {
  return old === undefined ? [near, run, nearValue] : [old, run, value];
}

function runRules(tree: RuleTree, value: Json, path: string, old: Old, same: () => boolean, run: Run): void {
  if (tree.rules.length === 0) return;
  const type = tree.schema.type ?? '';
  let self: CelValue;
  let oldSelf: CelValue | undefined;
  try {
    self = toCel(value, tree.schema, tree.isRoot);
    const seen = tree.rules.some((rule) => rule.usesOldSelf);
    oldSelf =
      !seen || old === undefined || old.value === null
        ? undefined
        : toCel(old.value, tree.schema, tree.isRoot);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    run.errors.push(
      fieldErrors.invalid(path, type, `${error.message} evaluating rule: ${text(tree.rules[0])}`),
    );
    return;
  }
  for (const compiled of tree.rules) {
    if (compiled.error !== undefined) {
      run.errors.push(fieldErrors.invalid(path, type, `rule compile error: ${compiled.error}`));
      continue;
    }
    if (compiled.program === undefined) continue;
    const optional = compiled.rule.optionalOldSelf === true;
    if (compiled.usesOldSelf && oldSelf === undefined && !optional) continue;
    const scope = scopeOf(self, oldSelf, optional);
    const outcome = runRule(compiled, compiled.program, scope, path, type, run);
    if (outcome) continue;
    const at = compiled.fieldPath === '' ? path : childPath(path, compiled.fieldPath);
    const found = ruleError(compiled, scope, at, type, value, run);
    (compiled.usesOldSelf || !same() ? run.errors : run.ratcheted).push(found);
  }
}

function scopeOf(self: CelValue, oldSelf: CelValue | undefined, optional: boolean): Scope {
  const before = optional ? (oldSelf === undefined ? NONE : new Optional(oldSelf)) : oldSelf;
  const parent: Scope | undefined =
    before === undefined ? undefined : { name: 'oldSelf', value: before, parent: undefined };
  return { name: 'self', value: self, parent };
}

const text = (compiled: CompiledRule | undefined): string =>
  (compiled?.rule.message ?? '') === ''
    ? (compiled?.rule.rule ?? '').trim()
    : (compiled?.rule.message ?? '').trim();

/** Whether nothing more is to be said: the rule holds, or its error has been reported. */
function runRule(
  compiled: CompiledRule,
  program: CelNode,
  scope: Scope,
  path: string,
  type: string,
  run: Run,
): boolean {
  const budget = new Budget(PER_RULE);
  try {
    const result = evaluate(program, scope, budget);
    spend(run, budget, path, type);
    return result === true;
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    spend(run, budget, path, type);
    const { message } = error;
    if (message.startsWith('operation cancelled: actual cost limit exceeded')) {
      const detail = `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${text(compiled)}`;
      run.errors.push(fieldErrors.invalid(path, type, detail));
      throw new OutOfBudget();
    }
    const detail = message.startsWith('no such overload')
      ? `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${text(compiled)}`
      : `${message} evaluating rule: ${text(compiled)}`;
    run.errors.push(fieldErrors.invalid(path, type, detail));
    return true;
  }
}

function spend(run: Run, budget: Budget, path: string, type: string): void {
  run.left -= PER_RULE - budget.left;
  if (run.left >= 0) return;
  run.errors.push(
    fieldErrors.invalid(
      path,
      type,
      'validation failed due to running out of cost budget, no further validation rules will be run',
    ),
  );
  throw new OutOfBudget();
}

const MAX_MESSAGE_BYTES = 5 * 1024;

function ruleError(
  compiled: CompiledRule,
  scope: Scope,
  path: string,
  type: string,
  value: Json,
  run: Run,
): FieldError {
  let detail = compiled.message === undefined ? undefined : evaluateMessage(compiled.message, scope, run);
  const { rule } = compiled;
  detail ??= (rule.message ?? '') === '' ? `failed rule: ${text(compiled)}` : (rule.message ?? '').trim();
  const shown = type === 'object' || type === 'array' ? undefined : value;
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return fieldErrors.forbidden(path, detail);
    case 'FieldValueRequired':
      return fieldErrors.required(path, detail);
    case 'FieldValueDuplicate':
      return fieldErrors.duplicate(path, shown);
    default:
      return fieldErrors.invalid(path, shown, detail);
  }
}

/** Undefined when the expression fails or says nothing usable: the rule's own message stands then. */
function evaluateMessage(node: CelNode, scope: Scope, run: Run): string | undefined {
  const budget = new Budget(PER_RULE);
  try {
    const value = evaluate(node, scope, budget);
    if (typeof value !== 'string') return undefined;
    const trimmed = value.trim();
    const usable =
      trimmed !== '' && !trimmed.includes('\n') && Buffer.byteLength(trimmed) <= MAX_MESSAGE_BYTES;
    return usable ? trimmed : undefined;
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return undefined;
  } finally {
    run.left -= PER_RULE - budget.left;
  }
}
