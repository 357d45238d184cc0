import { type Old, oldItem, oldMember, unchanged } from './correlate.ts';
import type { JSONSchemaProps } from './crd-types.ts';
import { type FieldError, fieldErrors } from './field-error.ts';
import { checkFormat, knownFormat } from './formats.ts';
import { deepEqual, goNumber, goQuote, isObject, type Json, type JsonObject } from './json.ts';
import { matchesRE2 } from './re2.ts';

/**
 * The value checks of a structural schema, in the order and with the texts of kube-openapi's validator, which is
 * what a kube-apiserver runs. `count` is its MatchCount: it picks the branch of anyOf/oneOf whose errors are shown.
 */
interface Result {
  errors: Found[];
  count: number;
}

/** An error and the text that tells it from others of the same run: the validator reports each text once. */
interface Found {
  key: string;
  error: FieldError;
}

/** `prefix` is where the checked value stands in the object: '' or `status`. */
interface Context {
  prefix: string;
}

export function validateValue(
  value: Json,
  schema: JSONSchemaProps,
  options: { prefix?: string; old?: Old } = {},
): FieldError[] {
  const context = { prefix: options.prefix ?? '' };
  return validateNode(value, schema, '', options.old, context).errors.map((found) => found.error);
}

function validateNode(
  value: Json,
  schema: JSONSchemaProps,
  path: string,
  old: Old,
  context: Context,
): Result {
  const result = validateInner(value, schema, path, old, context);
  // Ratcheting: what an update does not touch may stay as it was stored.
  if (result.errors.length > 0 && unchanged(old, value)) return { errors: [], count: result.count };
  return result;
}

class Collector implements Result {
  errors: Found[] = [];
  count = 0;
  add(key: string, error: FieldError): void {
    if (!this.errors.some((other) => other.key === key)) this.errors.push({ key, error });
  }
  merge(other: Result): void {
    for (const { key, error } of other.errors) this.add(key, error);
    this.count += other.count;
  }
}

function at(context: Context, path: string): string {
  const name = path.replace(/^\./, '');
  if (name === '') return context.prefix;
  return context.prefix === '' ? name : `${context.prefix}.${name}`;
}

function validateInner(
  value: Json,
  schema: JSONSchemaProps,
  path: string,
  old: Old,
  context: Context,
): Result {
  const out = new Collector();
  const types = typesOf(schema);
  if (value === null) {
    checkType(value, schema, types, path, context, out);
    checkEnum(value, schema, path, context, out);
    return out;
  }
  if (types.length > 0 || formatOf(schema, types) !== '') {
    checkType(value, schema, types, path, context, out);
    out.count++;
  }
  checkCombinations(value, schema, path, old, context, out);
  out.count++;
  if (typeof value === 'string') {
    checkString(value, schema, path, context, out);
    out.count++;
    checkStringFormat(value, schema, types, path, context, out);
  } else if (typeof value === 'number') {
    checkNumber(value, schema, types, path, context, out);
    out.count += 2;
  } else if (Array.isArray(value)) {
    checkArray(value, schema, path, old, context, out);
    out.count += 2;
  }
  checkEnum(value, schema, path, context, out);
  out.count++;
  if (isObject(value)) {
    checkObject(value, schema, path, old, context, out);
    out.count++;
  }
  out.count++;
  return out;
}

function typesOf(schema: JSONSchemaProps): string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return schema.type === undefined || schema.type === '' ? [] : [schema.type];
}

function formatOf(schema: JSONSchemaProps, types: string[]): string {
  const format = schema.format ?? '';
  if (format === '') return '';
  return knownFormat(types.length === 1 ? (types[0] ?? '') : '', format) ? format : '';
}

const INT64_LIMIT = 2 ** 63;
const isInteger = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < INT64_LIMIT;

/** The JSON type and Go's format for it. */
function typeAndFormat(value: Json): [string, string] {
  if (value === null) return ['null', ''];
  if (Array.isArray(value)) return ['array', ''];
  switch (typeof value) {
    case 'boolean':
      return ['boolean', ''];
    case 'string':
      return ['string', ''];
    case 'number':
      return isInteger(value) ? ['integer', 'int64'] : ['number', 'float64'];
    default:
      return ['object', ''];
  }
}

function typeError(path: string, wanted: string, found: string, context: Context, out: Collector): void {
  const text = `${path} in body must be of type ${wanted}: ${goQuote(found)}`;
  out.add(text, fieldErrors.typeInvalid(at(context, path), found, text));
}

function checkType(
  value: Json,
  schema: JSONSchemaProps,
  types: string[],
  path: string,
  context: Context,
  out: Collector,
): void {
  const wanted = types.join(',');
  if (value === null) {
    if (types.length > 0 && schema.nullable !== true) typeError(path, wanted, 'null', context, out);
    return;
  }
  const [type, valueFormat] = typeAndFormat(value);
  const format = formatOf(schema, types);
  const numeric = types.includes('number') || types.includes('integer');
  const fits = types.includes(type) || (type === 'integer' && types.includes('number'));
  const plain = typeof value === 'string' || Array.isArray(value);
  if (!plain && format !== '' && !fits && format !== valueFormat) {
    typeError(path, format, valueFormat, context, out);
  } else if (!numeric && format !== '' && plain) {
    out.count++;
  } else if (!fits) {
    typeError(path, wanted, type, context, out);
  } else out.count++;
}

function checkString(
  value: string,
  schema: JSONSchemaProps,
  path: string,
  context: Context,
  out: Collector,
): void {
  const field = at(context, path);
  const length = schema.maxLength === undefined && schema.minLength === undefined ? 0 : runes(value);
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    const text = `${path} in body should be at most ${schema.maxLength} chars long`;
    out.add(text, fieldErrors.tooLong(field, schema.maxLength));
  } else if (schema.minLength !== undefined && length < schema.minLength) {
    const text = `${path} in body should be at least ${schema.minLength} chars long`;
    out.add(text, fieldErrors.invalid(field, value, text));
  } else if (schema.pattern !== undefined && schema.pattern !== '' && !safeMatch(schema.pattern, value)) {
    const text = `${path} in body should match '${schema.pattern}'`;
    out.add(text, fieldErrors.invalid(field, value, text));
  }
}

function runes(value: string): number {
  let count = 0;
  for (const _ of value) count++;
  return count;
}

function safeMatch(pattern: string, value: string): boolean {
  try {
    return matchesRE2(pattern, value);
  } catch {
    return false; // as the server: a pattern that does not compile matches nothing
  }
}

function checkStringFormat(
  value: string,
  schema: JSONSchemaProps,
  types: string[],
  path: string,
  context: Context,
  out: Collector,
): void {
  const format = formatOf(schema, types);
  const ok = format === '' ? undefined : checkFormat(format, value);
  if (ok === undefined) return;
  if (!ok) typeError(path, format, value, context, out);
  out.count++;
}

const INT32_MAX = 2147483647;

function checkNumber(
  value: number,
  schema: JSONSchemaProps,
  types: string[],
  path: string,
  context: Context,
  out: Collector,
): void {
  const field = at(context, path);
  const type = types.length === 1 ? (types[0] ?? '') : '';
  const format = formatOf(schema, types);
  const fits =
    type === 'integer'
      ? isInteger(value) && (format !== 'int32' || (value >= -INT32_MAX - 1 && value <= INT32_MAX))
      : type !== 'number' || format !== 'float' || Math.abs(value) <= 3.4028234663852886e38;
  if (!fits) {
    const named = format === '' ? '(default format)' : `with format ${format}`;
    const text = `Checked value must be of type ${type} ${named} in ${path}`;
    out.add(text, fieldErrors.invalid(context.prefix, '', text));
  }
  const whole = isInteger(value);
  const bound = (limit: number): number => (whole && type !== 'number' ? Math.trunc(limit) : limit);
  const shown = (limit: number): string => (whole ? String(Math.trunc(limit)) : goNumber(limit));
  const fail = (words: string): void => {
    const text = `${path} in body should be ${words}`;
    out.add(text, fieldErrors.invalid(field, value, text));
  };
  if (schema.multipleOf !== undefined) {
    const factor = schema.multipleOf;
    const quotient = factor < 1 ? (1 / factor) * value : value / factor;
    if (factor > 0 && Math.abs(quotient - Math.round(quotient)) > 1e-9)
      fail(`a multiple of ${shown(factor)}`);
  }
  if (schema.minimum !== undefined) {
    const limit = bound(schema.minimum);
    if (schema.exclusiveMinimum === true ? value <= limit : value < limit)
      fail(`greater than ${schema.exclusiveMinimum === true ? '' : 'or equal to '}${shown(schema.minimum)}`);
  }
  if (schema.maximum !== undefined) {
    const limit = bound(schema.maximum);
    if (schema.exclusiveMaximum === true ? value >= limit : value > limit)
      fail(`less than ${schema.exclusiveMaximum === true ? '' : 'or equal to '}${shown(schema.maximum)}`);
  }
}

function checkArray(
  value: Json[],
  schema: JSONSchemaProps,
  path: string,
  old: Old,
  context: Context,
  out: Collector,
): void {
  const field = at(context, path);
  const items = schema.items;
  if (items !== undefined)
    for (const [i, item] of value.entries())
      out.merge(validateNode(item, items, `${path}[${i}]`, oldItem(old, schema, item), context));
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    const text = `${path} in body should have at least ${schema.minItems} items`;
    out.add(text, fieldErrors.invalid(field, value.length, text));
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    const text = `${path} in body should have at most ${schema.maxItems} items`;
    out.add(text, fieldErrors.tooMany(field, value.length, schema.maxItems));
  }
  if (schema.uniqueItems === true && value.some((a, i) => value.slice(0, i).some((b) => deepEqual(a, b)))) {
    const text = `${path} in body shouldn't contain duplicates`;
    out.add(text, fieldErrors.invalid(field, '', text));
  }
}

function checkObject(
  value: JsonObject,
  schema: JSONSchemaProps,
  path: string,
  old: Old,
  context: Context,
  out: Collector,
): void {
  const field = at(context, path);
  const keys = Object.keys(value);
  const properties = schema.properties ?? {};
  if (schema.minProperties !== undefined && keys.length < schema.minProperties) {
    const text = `${path} in body should have at least ${schema.minProperties} properties`;
    out.add(text, fieldErrors.invalid(field, keys.length, text));
  }
  if (schema.maxProperties !== undefined && keys.length > schema.maxProperties) {
    const text = `${path} in body should have at most ${schema.maxProperties} properties`;
    out.add(text, fieldErrors.tooMany(field, keys.length, schema.maxProperties));
  }
  const more = schema.additionalProperties;
  for (const key of keys) {
    if (Object.hasOwn(properties, key)) continue;
    if (more === false) {
      const text = `${path}.${key} in body is a forbidden property`;
      out.add(text, fieldErrors.invalid(field, key, text));
    } else if (typeof more === 'object') {
      const sub = validateNode(
        value[key] ?? null,
        more,
        `${path}.${key}`,
        oldMember(old, schema, key),
        context,
      );
      out.merge(sub);
    }
  }
  for (const [key, property] of Object.entries(properties)) {
    if (!Object.hasOwn(value, key)) continue;
    // The root's type fields are converted before they are stored, so there is nothing to compare them with.
    const typeMeta = path === '' && (key === 'kind' || key === 'apiVersion');
    const before = typeMeta ? undefined : oldMember(old, schema, key);
    out.merge(
      validateNode(value[key] ?? null, property, path === '' ? key : `${path}.${key}`, before, context),
    );
  }
  for (const key of schema.required ?? []) {
    if (Object.hasOwn(value, key)) continue;
    const text = `${path}.${key} in body is required`;
    out.add(text, fieldErrors.required(at(context, `${path}.${key}`)));
  }
}

function checkEnum(
  value: Json,
  schema: JSONSchemaProps,
  path: string,
  context: Context,
  out: Collector,
): void {
  const allowed = schema.enum;
  if (allowed === undefined || allowed.length === 0) return;
  if (allowed.some((option) => option !== null && deepEqual(option, value))) return;
  const shown = allowed.map((option) => (typeof option === 'string' ? option : JSON.stringify(option)));
  const text = `${path} in body should be one of [${shown.join(' ')}]`;
  out.add(text, fieldErrors.notSupported(at(context, path), value, shown));
}

function checkCombinations(
  value: Json,
  schema: JSONSchemaProps,
  path: string,
  old: Old,
  context: Context,
  out: Collector,
): void {
  // These messages name no field of their own: the server reports them at the root.
  const fail = (text: string): void => out.add(text, fieldErrors.invalid(context.prefix, '', text));
  const run = (sub: JSONSchemaProps): Result => validateInner(value, sub, path, old, context);
  const shown = goQuote(path);
  if (schema.anyOf !== undefined && schema.anyOf.length > 0) {
    const results: Result[] = [];
    for (const sub of schema.anyOf) {
      results.push(run(sub));
      if (results.at(-1)?.errors.length === 0) break;
    }
    const success = results.find((result) => result.errors.length === 0);
    if (success === undefined) fail(`${shown} must validate at least one schema (anyOf)`);
    const kept = success ?? best(results);
    if (kept !== undefined) out.merge(kept);
  }
  if (schema.oneOf !== undefined && schema.oneOf.length > 0) {
    const results = schema.oneOf.map(run);
    const valid = results.filter((result) => result.errors.length === 0);
    const failures = best(results);
    if (valid.length === 1 && valid[0] !== undefined) out.merge(valid[0]);
    else if (valid.length === 0) {
      fail(`${shown} must validate one and only one schema (oneOf). Found none valid`);
      if (failures !== undefined) out.merge(failures);
    } else
      fail(
        `${shown} must validate one and only one schema (oneOf). Found ${valid.length} valid alternatives`,
      );
  }
  if (schema.allOf !== undefined && schema.allOf.length > 0) {
    const results = schema.allOf.map(run);
    const valid = results.filter((result) => result.errors.length === 0).length;
    for (const result of results) out.merge(result);
    if (valid !== results.length)
      fail(`${shown} must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
  }
  if (schema.not !== undefined && run(schema.not).errors.length === 0)
    fail(`${shown} must not validate the schema (not)`);
}

function best(results: Result[]): Result | undefined {
  let found: Result | undefined;
  for (const result of results) if (found === undefined || result.count > found.count) found = result;
  return found;
}
