/** Looks again and again until `look` gives something, or fails with what was seen last. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  options: { withinMs?: number; everyMs?: number; seen?: () => unknown } = {},
): Promise<T> {
  const end = performance.now() + (options.withinMs ?? 150_000);
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) {
      const last =
        options.seen === undefined ? '' : `; last seen: ${JSON.stringify(await options.seen(), null, 1)}`;
      throw new Error(`did not come: ${what}${last}`);
    }
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 25));
  }
}
