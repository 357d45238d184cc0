import { CelError, Opaque } from './cel-values.ts';

/**
 * `resource.Quantity`: an exact decimal, kept as units of 10^-9. `scale` is the power of ten that apimachinery keeps a
 * small one with, absent where it has gone over to big decimals: only a small one without a fraction is an integer to it.
 */
export class Quantity extends Opaque {
  readonly opaqueType = 'kubernetes.Quantity';
  readonly nano: bigint;
  readonly scale: number | undefined;
  constructor(nano: bigint, scale?: number) {
    super();
    this.nano = nano;
    this.scale = scale;
  }
  equals(other: Opaque): boolean {
    return other instanceof Quantity && other.nano === this.nano;
  }
  add(other: Quantity, sign: 1n | -1n): Quantity {
    const nano = this.nano + sign * other.nano;
    if (this.scale === undefined || other.scale === undefined) return new Quantity(nano);
    if (other.nano === 0n) return new Quantity(nano, this.scale);
    if (this.nano === 0n) return new Quantity(nano, other.scale);
    const scale = Math.min(this.scale, other.scale);
    return fitsInt64(scaled(nano, scale)) ? new Quantity(nano, scale) : new Quantity(nano);
  }
}

/** The whole number that stands before 10^scale. */
function scaled(nano: bigint, scale: number): bigint {
  return nano / 10n ** BigInt(scale + 9);
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
  const exact = numerator * NANO;
  let nano = exact / denominator + (exact % denominator === 0n ? 0n : 1n);
  const scale = smallScale(whole.replace(/^0+/, '') || '0', decimals, suffix);
  if (scale === undefined && suffix.endsWith('i') && nano > MAX_NANO) nano = MAX_NANO;
  if (scale !== undefined && !fitsInt64(scaled(nano, scale)))
    return new Quantity(sign === '-' ? -nano : nano);
  return new Quantity(sign === '-' ? -nano : nano, scale);
}

const MAX_NANO = (2n ** 63n - 1n) * NANO;
const DECIMAL_EXPONENTS: Record<string, number> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

/** apimachinery's test for its small form; undefined where it takes a big decimal. */
function smallScale(whole: string, decimals: string, suffix: string): number | undefined {
  if (suffix.endsWith('i')) {
    const exponent = ('KMGTPE'.indexOf(suffix.charAt(0)) + 1) * 10;
    const precision = 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1;
    return decimals === '' && precision >= 0 ? 0 : undefined;
  }
  if (18 - whole.length - decimals.length < 0) return undefined;
  const exponent = DECIMAL_EXPONENTS[suffix] ?? Number(suffix.slice(1));
  const scale = exponent - decimals.length;
  return scale >= -9 ? scale : undefined;
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
  if (!isQuantityInteger(value)) throw new CelError('cannot convert value to integer');
  return value.nano / NANO;
}

export function isQuantityInteger(value: Quantity): boolean {
  return value.scale !== undefined && value.scale >= 0 && fitsInt64(value.nano / NANO);
}

const fitsInt64 = (value: bigint): boolean => value >= -(2n ** 63n) && value < 2n ** 63n;

export const quantityOfInt = (value: bigint): Quantity => new Quantity(value * NANO, 0);
export const quantityFloat = (value: Quantity): number => Number(value.nano) / 1e9;
