import { addAll } from '../add-all.ts';
import { isRecord, type StoredObject } from '../object.ts';
import { strictDecodingMessage } from '../schema/compile.ts';
import { invalidStatus } from '../schema/invalid-status.ts';
import { fieldErrors } from '../schema/field-error.ts';
import type { Json, JsonObject } from '../schema/json.ts';
import { DecodeError, decodeObjectMeta } from '../schema/object-meta.ts';
import { apiVersion, type Call } from './call.ts';
import { parseJSON } from './json-text.ts';
import { refuse, StatusError } from './status.ts';

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const EXCERPT = 30;

/** The start of a body, for a message about it: as apimachinery's summarizeData. */
function excerpt(text: string): string {
  if (text === '') return '<empty>';
  if (text.startsWith('{')) return text.length > EXCERPT ? `${text.slice(0, EXCERPT)} ...` : text;
  const bytes = Buffer.from(text);
  const hex = bytes.subarray(0, EXCERPT).toString('hex');
  return bytes.length > EXCERPT ? `${hex} ...` : hex;
}

const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/**
 * A JSON body as an object. `kind` is the kind that was expected; an object that says nothing of its type is of the
 * type `otherwise`. Throws 400.
 */
export function parseObject(
  text: string,
  kind: string,
  otherwise?: { apiVersion: string; kind: string },
): Record<string, unknown> {
  const unrecognized = (why: string): StatusError =>
    refuse.badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${why} (${excerpt(text)})`,
    );
  let value: unknown;
  try {
    value = parseJSON(text);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    const why = text.trim() === '' ? 'unexpected end of JSON input' : jsonError(error);
    throw unrecognized(`couldn't get version/kind; json parse error: ${why}`);
  }
  if (!isRecord(value)) {
    const found = Array.isArray(value) ? 'array' : typeof value;
    throw unrecognized(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go value of type ${TYPE_META}`,
    );
  }
  if (otherwise !== undefined) {
    value['kind'] ||= otherwise.kind;
    value['apiVersion'] ||= otherwise.apiVersion;
  }
  if (typeof value['kind'] !== 'string' || value['kind'] === '') {
    throw unrecognized(`Object 'Kind' is missing in '${text.trim()}'`);
  }
  if (typeof value['apiVersion'] !== 'string' || value['apiVersion'] === '') {
    throw unrecognized(`Object 'apiVersion' is missing in '${text.trim()}'`);
  }
  return value;
}

function jsonError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.startsWith('Unexpected end of JSON') ? 'unexpected end of JSON input' : message;
}

/** A value of the wrong type. Of an object that a patch has made, `why` alone is told. */
export class DecodeRefusal extends StatusError {
  readonly why: string;
  constructor(message: string, why: string) {
    super(refuse.badRequest(message).status);
    this.why = why;
  }
}

/**
 * Checks that a decoded body is an object of the call's kind and version, drops and names what its schema does
 * not know, and nulls that mean nothing. The object is changed in place. Throws 400 or 422, and DecodeRefusal.
 */
export function acceptObject(
  call: Call,
  value: Record<string, unknown>,
  how: { nulls: 'drop' | 'keep' } = { nulls: 'drop' },
): { object: StoredObject; unknown: string[] } {
  const expected = apiVersion(call);
  if (value['apiVersion'] !== expected) {
    if (call.kind.crd === undefined && value['kind'] === call.kind.kind)
      throw unregistered(call, String(value['apiVersion']));
    throw refuse.badRequest(
      `the API version in the data (${String(value['apiVersion'])}) does not match the expected API version (${expected})`,
    );
  }
  const kind = String(value['kind']);
  if (kind !== call.kind.kind) {
    const name = isRecord(value['metadata']) ? textOf(value['metadata']['name']) : '';
    throw new StatusError(
      invalidStatus(call.kind.group, kind, name, [
        fieldErrors.invalid('kind', kind, `must be ${call.kind.kind}`),
      ]),
    );
  }
  value['metadata'] ??= {};
  try {
    const { schema } = call.version;
    const unknown: string[] = [];
    if (schema === undefined) {
      const decoded = builtinMeta((value as JsonObject)['metadata'] ?? {});
      value['metadata'] = decoded.meta;
      addAll(unknown, decoded.unknownFields);
      addAll(unknown, call.version.decode?.(value as JsonObject) ?? []);
    } else {
      addAll(unknown, schema.prune(value as JsonObject).unknownFields);
      if (how.nulls === 'drop') schema.dropNulls(value as JsonObject);
    }
    return { object: value as StoredObject, unknown };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new DecodeRefusal(
      `${call.kind.kind} in version "${call.version.name}" cannot be handled as a ${call.kind.kind}: ${error.message}`,
      error.message,
    );
  }
}

/** Built-in kinds are known to the decoder by their versions. */
function unregistered({ kind: { kind } }: Call, version: string): StatusError {
  return refuse.badRequest(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)} in scheme "pkg/runtime/scheme.go:111"`,
  );
}

/** Built-in kinds are decoded whole: the decoder names the way to the field. */
function builtinMeta(metadata: Json): ReturnType<typeof decodeObjectMeta> {
  try {
    return decodeObjectMeta(metadata, 'metadata', { emptyOwners: true });
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new DecodeError(
      error.message.replace('Go struct field ObjectMeta.', 'Go struct field ObjectMeta.metadata.'),
    );
  }
}

/** What `fieldValidation` makes of fields that the schema does not know: a refusal, a warning, nothing. */
export function judgeFields(call: Call, unknown: string[], duplicates: string[] = []): void {
  if (unknown.length + duplicates.length === 0 || call.fieldValidation === 'Ignore') return;
  if (call.fieldValidation === 'Warn') {
    addAll(call.warnings, duplicates);
    addAll(
      call.warnings,
      unknown.map((field) => `unknown field ${JSON.stringify(field)}`),
    );
    return;
  }
  throw refuse.badRequest(
    `${call.kind.kind} in version "${call.version.name}" cannot be handled as a ${call.kind.kind}: ${strictDecodingMessage(unknown, duplicates)}`,
  );
}
