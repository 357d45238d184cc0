/** As Go's strconv writes a float64 with 'g' and the least digits: with an exponent from the seventh digit on. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const scientific = value.toExponential();
  const power = Number(scientific.slice(scientific.indexOf('e') + 1));
  if (power >= -4 && power < 6) return String(value);
  return scientific.replace(/e([+-])(\d)$/, 'e$10$2');
}

const SUPERSCRIPT = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** As cel-go's `%e` writes it: `1.500000×10⁰³`. */
export function scientificText(value: number, precision: number): string {
  const [mantissa = '', exponent = '0'] = value.toExponential(precision).split('e');
  const power = Number(exponent);
  const digits = String(Math.abs(power)).padStart(2, '0');
  const raised = Array.from(digits, (digit) => SUPERSCRIPT[Number(digit)] ?? '').join('');
  return `${mantissa}×10${power < 0 ? '⁻' : ''}${raised}`;
}
