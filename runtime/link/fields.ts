import { LinkError } from './link-error.ts';

type FieldValue = string | Buffer | bigint | number | boolean | FieldList;
/** Fields in order: a tag and its value; numbers and booleans go as 8 bytes, lists nested. undefined is left out. */
export type FieldList = ReadonlyArray<readonly [tag: number, value: FieldValue | undefined]>;

const FIELD_HEADER = 5;

export function encodeFields(list: FieldList): Buffer {
  const parts: Buffer[] = [];
  for (const [tag, value] of list) {
    if (value === undefined) continue;
    const bytes = toBytes(value);
    const header = Buffer.allocUnsafe(FIELD_HEADER);
    header[0] = tag;
    header.writeUInt32BE(bytes.length, 1);
    parts.push(header, bytes);
  }
  return Buffer.concat(parts);
}

function toBytes(value: FieldValue): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (typeof value === 'string') return Buffer.from(value, 'utf8');
  if (typeof value === 'object') return encodeFields(value);
  const out = Buffer.allocUnsafe(8);
  out.writeBigUInt64BE(BigInt(value));
  return out;
}

/** The fields of a payload by tag. Unknown tags are kept and hurt nobody. Throws `Garbage` where they don't add up. */
export class Fields {
  private readonly values = new Map<number, Buffer[]>();

  constructor(payload: Buffer) {
    let at = 0;
    while (at < payload.length) {
      if (payload.length - at < FIELD_HEADER) throw malformed('a field is cut off');
      const tag = payload[at] as number;
      const length = payload.readUInt32BE(at + 1);
      at += FIELD_HEADER;
      if (length > payload.length - at) throw malformed('a field is longer than its message');
      const value = payload.subarray(at, at + length);
      const known = this.values.get(tag);
      if (known) known.push(value);
      else this.values.set(tag, [value]);
      at += length;
    }
  }

  has(tag: number): boolean {
    return this.values.has(tag);
  }

  all(tag: number): Buffer[] {
    return this.values.get(tag) ?? [];
  }

  /** The last one counts. */
  bytes(tag: number): Buffer | undefined {
    return this.values.get(tag)?.at(-1);
  }

  text(tag: number): string {
    return this.bytes(tag)?.toString('utf8') ?? '';
  }

  /** 0n where it is missing. */
  big(tag: number): bigint {
    const value = this.bytes(tag);
    return value ? bigOf(value) : 0n;
  }

  number(tag: number): number {
    return safeNumber(this.big(tag));
  }

  optionalNumber(tag: number): number | undefined {
    return this.has(tag) ? this.number(tag) : undefined;
  }

  numbers(tag: number): number[] {
    return this.all(tag).map((value) => safeNumber(bigOf(value)));
  }
}

function bigOf(value: Buffer): bigint {
  if (value.length !== 8) throw malformed('a number that is not 8 bytes long');
  return value.readBigUInt64BE();
}

function safeNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw malformed(`the number ${value} is too large`);
  return Number(value);
}

function malformed(what: string): LinkError {
  return new LinkError('Garbage', `the other side does not speak the protocol: ${what}`);
}
