import { pino } from 'pino';
import type { KubeObject, Resource } from '../client.ts';

/** A resource and an object of it as tests of plumbing need them. */
export const THINGS: Resource = {
  group: 'holdfast.dev',
  version: 'v1alpha1',
  plural: 'sandboxes',
  namespaced: true,
};

export interface Thing extends KubeObject {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export function thing(name: string, rest: Partial<Thing['metadata']> & { spec?: Thing['spec'] } = {}): Thing {
  const { spec, ...metadata } = rest;
  return {
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'Sandbox',
    metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: '1', ...metadata },
    ...(spec && { spec }),
  };
}

export const silent = pino({ level: 'silent' });

/** Always the middle, so that a jittered wait is known: 0.75 of the whole for a backoff. */
export const half = (): number => 0.5;
