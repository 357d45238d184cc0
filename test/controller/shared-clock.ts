/** Monotonic, and the same in every process of this machine (CLOCK_MONOTONIC). */
export function sharedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
