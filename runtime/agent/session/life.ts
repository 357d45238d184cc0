/** A number that tells the streams of one start of one container from those of any other. */
export function lifeOf(containerID: string, start: number): number {
  const base = Number.parseInt(containerID.slice(0, 7), 16);
  return ((Number.isNaN(base) ? 0 : base) + start) % 1_000_000_000;
}
