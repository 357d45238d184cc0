/**
 * Adds all of `items`. `push(...items)` hands each over as an argument of its own, of which there can be some hundred
 * thousand fewer than a request can have fields and mistakes.
 */
export function addAll<T>(target: T[], items: Iterable<T>): void {
  for (const item of items) target.push(item);
}
