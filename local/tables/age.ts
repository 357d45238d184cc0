/** Kubernetes' short form of a span of time (`5m30s`, `2d3h`), as tables show ages. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 192) return pair(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.trunc(days / 365);
  return days < 2920 ? pair(years, 'y', days % 365, 'd') : `${years}y`;
}

const pair = (a: number, x: string, b: number, y: string): string =>
  b === 0 ? `${a}${x}` : `${a}${x}${b}${y}`;

/** How long ago a timestamp was; `<unknown>` when there is none, `<invalid>` when it is not one. */
export function ageOf(timestamp: unknown, now: Date): string {
  if (timestamp === undefined || timestamp === null || timestamp === '') return '<unknown>';
  const then = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(then) ? '<invalid>' : humanDuration(now.getTime() - then);
}
