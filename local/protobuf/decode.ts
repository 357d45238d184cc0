import { goQuote, type Json, type JsonObject, setMember } from '../schema/json.ts';
import { type FieldType, kinds, messages } from './messages.ts';
import { ProtobufError, readFields, type WireField } from './wire.ts';

export { ProtobufError } from './wire.ts';

const MAGIC = Uint8Array.from([0x6b, 0x38, 0x73, 0x00]);
const MAX_DEPTH = 16;

/**
 * A body of `application/vnd.kubernetes.protobuf` as the JSON object that it stands for. kubectl sends some of the
 * built-in kinds so; custom kinds never are. Throws ProtobufError, and nothing else, for anything it cannot read.
 */
export function decodeProtobuf(body: Uint8Array): JsonObject {
  if (body.length < MAGIC.length || MAGIC.some((byte, i) => body[i] !== byte))
    throw new ProtobufError(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  let typeMeta: Uint8Array = new Uint8Array();
  let raw: Uint8Array = new Uint8Array();
  for (const field of readFields(body.subarray(MAGIC.length))) {
    if (!('bytes' in field)) continue;
    if (field.number === 1) typeMeta = field.bytes;
    if (field.number === 2) raw = field.bytes;
  }
  let apiVersion = '';
  let kind = '';
  for (const field of readFields(typeMeta)) {
    if (!('bytes' in field)) continue;
    if (field.number === 1) apiVersion = text(field.bytes);
    if (field.number === 2) kind = text(field.bytes);
  }
  const key = `${apiVersion}/${kind}`;
  const message = kind === 'DeleteOptions' ? kind : Object.hasOwn(kinds, key) ? kinds[key] : undefined;
  if (message === undefined)
    throw new ProtobufError(
      `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in protobuf`,
    );
  return { kind, apiVersion, ...readMessage(raw, message, 0) };
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}

function readMessage(bytes: Uint8Array, name: string, depth: number): JsonObject {
  if (depth > MAX_DEPTH) throw new ProtobufError('proto: nested too deep');
  const fields = messages[name] ?? {};
  const out: JsonObject = {};
  for (const field of readFields(bytes)) {
    const known = Object.hasOwn(fields, field.number) ? fields[field.number] : undefined;
    if (known === undefined) continue;
    const [key, type] = known;
    readField(out, key, type, field, depth);
  }
  return out;
}

function readField(out: JsonObject, key: string, type: FieldType, field: WireField, depth: number): void {
  if (typeof type === 'string') {
    const value = readScalar(type, field);
    if (value !== undefined) setMember(out, key, value);
  } else if ('message' in type) {
    const value = readMessage(bytesOf(field), type.message, depth + 1);
    if (type.message === 'FieldsV1') setMember(out, key, value[''] ?? {});
    else if (Object.keys(value).length > 0) setMember(out, key, value);
  } else if ('list' in type) {
    const list = out[key];
    const value =
      type.list === 'string'
        ? text(bytesOf(field))
        : readMessage(bytesOf(field), type.list.message, depth + 1);
    if (Array.isArray(list)) list.push(value);
    else setMember(out, key, [value]);
  } else readEntry(out, key, type.map, bytesOf(field));
}

function bytesOf(field: WireField): Uint8Array {
  if ('bytes' in field) return field.bytes;
  throw new ProtobufError(`proto: wrong wireType = 0 for field ${field.number}`);
}

function valueOf(field: WireField): bigint {
  if ('value' in field) return field.value;
  throw new ProtobufError(`proto: wrong wireType = 2 for field ${field.number}`);
}

function readScalar(type: FieldType & string, field: WireField): Json | undefined {
  switch (type) {
    case 'string':
      return text(bytesOf(field)) || undefined;
    case 'string?':
      return text(bytesOf(field));
    case 'int':
      return Number(BigInt.asIntN(64, valueOf(field))) || undefined;
    case 'int?':
      return Number(BigInt.asIntN(64, valueOf(field)));
    case 'bool':
      return valueOf(field) !== 0n || undefined;
    case 'bool?':
      return valueOf(field) !== 0n;
    case 'base64':
      return Buffer.from(bytesOf(field)).toString('base64');
    case 'time':
    case 'microtime':
      return readTime(bytesOf(field), type === 'microtime');
    case 'json':
      return readJSON(bytesOf(field));
  }
}

function readJSON(bytes: Uint8Array): Json {
  try {
    return JSON.parse(text(bytes)) as Json;
  } catch {
    throw new ProtobufError('invalid JSON in a raw field');
  }
}

const MAX_SECONDS = 253402300799n;

/** Absent for Go's zero time, which is sent as an empty message. */
function readTime(bytes: Uint8Array, micro: boolean): string | undefined {
  let seconds = 0n;
  let nanos = 0n;
  const fields = readFields(bytes);
  for (const field of fields) {
    if (field.number === 1) seconds = BigInt.asIntN(64, valueOf(field));
    if (field.number === 2) nanos = BigInt.asIntN(32, valueOf(field));
  }
  if (fields.length === 0 || seconds <= -62135596800n) return undefined;
  if (seconds > MAX_SECONDS || nanos < 0n || nanos > 999_999_999n)
    throw new ProtobufError('time is out of range');
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return micro ? `${whole}.${(nanos / 1000n).toString().padStart(6, '0')}Z` : `${whole}Z`;
}

function readEntry(
  out: JsonObject,
  key: string,
  type: 'string' | 'base64' | { strings: true },
  bytes: Uint8Array,
): void {
  let name = '';
  let value: Json = typeof type === 'string' ? '' : [];
  for (const field of readFields(bytes)) {
    if (field.number === 1) name = text(bytesOf(field));
    if (field.number === 2) {
      if (type === 'string') value = text(bytesOf(field));
      else if (type === 'base64') value = Buffer.from(bytesOf(field)).toString('base64');
      else value = readFields(bytesOf(field)).map((item) => text(bytesOf(item)));
    }
  }
  const map = out[key];
  const target: JsonObject = typeof map === 'object' && map !== null && !Array.isArray(map) ? map : {};
  setMember(target, name, value);
  setMember(out, key, target);
}
