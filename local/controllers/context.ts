import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Registry } from '../registry/registry.ts';
import type { Store } from '../store/store.ts';

export interface ControllerContext {
  store: Store;
  registry: Registry;
  clock: Clock;
  log: Logger;
}

/** Names an object of any kind in one string. */
export function refKey(resource: string, key: string): string {
  return `${resource} ${key}`;
}

export function parseRefKey(ref: string): { resource: string; key: string } {
  const space = ref.indexOf(' ');
  return { resource: ref.slice(0, space), key: ref.slice(space + 1) };
}
