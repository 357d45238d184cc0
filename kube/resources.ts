import { GROUP, VERSION } from '../crds/group.ts';
import type { Resource } from './client.ts';

export const SANDBOXES: Resource = { group: GROUP, version: VERSION, plural: 'sandboxes', namespaced: true };
export const SANDBOX_NODES: Resource = {
  group: GROUP,
  version: VERSION,
  plural: 'sandboxnodes',
  namespaced: false,
};
export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  namespaced: true,
};
export const EVENTS: Resource = { group: '', version: 'v1', plural: 'events', namespaced: true };
export const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', namespaced: false };
export const NAMESPACES: Resource = { group: '', version: 'v1', plural: 'namespaces', namespaced: false };
export const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
