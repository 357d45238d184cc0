import { CelError, Opaque } from './cel-values.ts';

/** `resource.Quantity`: an exact decimal, kept as units of 10^-9. */
export class Quantity extends Opaque {
  readonly opaqueType = 'kubernetes.Quantity';
  readonly nano: bigint;
  constructor(nano: bigint) {
    super();
    this.nano = nano;
  }
  equals(other: Opaque): boolean {
    return other instanceof Quantity && other.nano === this.nano;
  }
}

const NANO = 1_000_000_000n;
const SUFFIXES: Record<string, [bigint, bigint]> = {
  n: [1n, NANO],
  u: [1n, 1_000_000n],
  m: [1n, 1000n],
  '': [1n, 1n],
  k: [1000n, 1n],
  M: [10n ** 6n, 1n],
  G: [10n ** 9n, 1n],
  T: [10n ** 12n, 1n],
  P: [10n ** 15n, 1n],
  E: [10n ** 18n, 1n],
  Ki: [2n ** 10n, 1n],
  Mi: [2n ** 20n, 1n],
  Gi: [2n ** 30n, 1n],
  Ti: [2n ** 40n, 1n],
  Pi: [2n ** 50n, 1n],
  Ei: [2n ** 60n, 1n],
};

/** Undefined where Kubernetes' own parser refuses the text. What is finer than 10^-9 is rounded up, as it does. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = /^([-+]?)(\d+(?:\.\d*)?|\.\d+)((?:[KMGTPE]i|[numkMGTPE])?|[eE][-+]?\d{1,4})$/.exec(text);
  if (match === null) return undefined;
  const [, sign = '', digits = '', suffix = ''] = match;
  const [whole = '', decimals = ''] = digits.split('.');
  let numerator = BigInt(`${whole}${decimals}` === '' ? '0' : `${whole}${decimals}`);
  let denominator = 10n ** BigInt(decimals.length);
  const exponent = /^[eE]([-+]?\d+)$/.exec(suffix);
  if (exponent !== null) {
    const power = Number(exponent[1]);
    if (power >= 0) numerator *= 10n ** BigInt(power);
    else denominator *= 10n ** BigInt(-power);
  } else {
    const [times, over] = SUFFIXES[suffix] ?? [1n, 1n];
    numerator *= times;
    denominator *= over;
  }
  const scaled = numerator * NANO;
  const nano = scaled / denominator + (scaled % denominator === 0n ? 0n : 1n);
  return new Quantity(sign === '-' ? -nano : nano);
}

export function toQuantity(text: string): Quantity {
  const found = parseQuantity(text);
  if (found === undefined)
    throw new CelError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  return found;
}

export function quantityInteger(value: Quantity): bigint {
  if (value.nano % NANO !== 0n || !fitsInt64(value.nano / NANO))
    throw new CelError('cannot convert value to integer');
  return value.nano / NANO;
}

export function isQuantityInteger(value: Quantity): boolean {
  return value.nano % NANO === 0n && fitsInt64(value.nano / NANO);
}

const fitsInt64 = (value: bigint): boolean => value >= -(2n ** 63n) && value < 2n ** 63n;

export const quantityOfInt = (value: bigint): Quantity => new Quantity(value * NANO);
export const quantityFloat = (value: Quantity): number => Number(value.nano) / 1e9;
