import { GROUP } from '../definitions.ts';
import type { Case, Step } from '../types.ts';

export const WIDGETS = `/apis/${GROUP}/v1/namespaces/\${ns}/widgets`;
export const GADGETS = `/apis/${GROUP}/v1/gadgets`;
export const CONFIGMAPS = '/api/v1/namespaces/${ns}/configmaps';

export const MERGE = 'application/merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';
export const APPLY = 'application/apply-patch+yaml';
export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
export const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
export const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

export function widget(
  name: string,
  spec: unknown = {},
  more: Record<string, unknown> = {},
  meta: object = {},
): object {
  return { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name, ...meta }, spec, ...more };
}

export function gadget(name: string, spec: unknown = {}, more: Record<string, unknown> = {}): object {
  return { apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name }, spec, ...more };
}

export const create = (body: object, query = ''): Step => ({ request: `POST ${WIDGETS}${query}`, body });
export const get = (name: string): Step => ({ request: `GET ${WIDGETS}/${name}` });
export const quiet = (step: Step): Step => ({ ...step, silent: true });

export const configMap = (name: string, data: object = {}, meta: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...meta },
  data,
});

/** A case for each line: a name, and the spec that is tried. */
export function createCases(specs: Record<string, unknown>): Case[] {
  return Object.entries(specs).map(([name, spec]) => ({ name, steps: [create(widget('w', spec))] }));
}
