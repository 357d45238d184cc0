/** Docker's `filters` parameter: containers, volumes or events that have every one of the labels. */
export function labelFilter(labels: Record<string, string>, more: Record<string, string[]> = {}): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return JSON.stringify({ ...more, ...(pairs.length === 0 ? {} : { label: pairs }) });
}
