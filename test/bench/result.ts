/** What one part of the benchmark prints as the last line of its standard output, as JSON. */
export interface BenchResult {
  title: string;
  lines: BenchLine[];
  /** Everything that was measured, one by one. */
  samples: Record<string, number[]>;
}

export interface BenchLine {
  what: string;
  /** With its unit. */
  measured: string;
  /** With its unit; absent: measured without a goal. */
  goal?: string;
  /** Absent where there is no goal. */
  met?: boolean;
}

export function quantile(samples: readonly number[], fraction: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)] ?? Number.NaN;
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
