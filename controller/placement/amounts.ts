/** CPUs as people write them: 1500 is "1.5". */
export function cores(millis: number): string {
  return String(millis / 1000);
}

const UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti'] as const;

/** Bytes in the largest binary unit that keeps two digits behind the point honest. */
export function size(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  // Downwards: what is said to be free must really be there.
  return `${Math.floor(amount * 100) / 100}${UNITS[unit]}`;
}
