/** A body that is not what its content type says; the server answers 400. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

/** A field as it stands on the wire: its number and its bytes (length-delimited) or its number (varint). */
export type WireField = { number: number; bytes: Uint8Array } | { number: number; value: bigint };

const MAX_FIELDS = 100_000;

/** The fields of one message, in order. Throws ProtobufError where the bytes are not a message. */
export function readFields(bytes: Uint8Array): WireField[] {
  const out: WireField[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) throw new ProtobufError('unexpected EOF');
      at++;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufError('proto: integer overflow');
  };
  const take = (length: number): Uint8Array => {
    if (length < 0 || length > bytes.length - at) throw new ProtobufError('unexpected EOF');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    if (out.length >= MAX_FIELDS) throw new ProtobufError('proto: too many fields');
    const tag = varint();
    const number = Number(tag >> 3n);
    if (number <= 0 || number > 536870911) throw new ProtobufError(`proto: illegal tag ${number}`);
    switch (Number(tag & 7n)) {
      case 0:
        out.push({ number, value: varint() });
        break;
      case 1:
        take(8);
        break;
      case 2: {
        const length = varint();
        if (length > BigInt(bytes.length)) throw new ProtobufError('unexpected EOF');
        out.push({ number, bytes: take(Number(length)) });
        break;
      }
      case 5:
        take(4);
        break;
      default:
        throw new ProtobufError(`proto: illegal wireType ${Number(tag & 7n)}`);
    }
  }
  return out;
}
