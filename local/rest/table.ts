import type { StoredObject } from '../object.ts';
import { renderTable } from '../tables/render.ts';
import type { Call } from './call.ts';

export interface TableOptions {
  metadata: Record<string, unknown>;
  /** Whether the columns are named. */
  headers: boolean;
  /** What each row carries: `None`, `Metadata`, `Object`. */
  includeObject: string;
  now: Date;
}

/** `meta.k8s.io/v1 Table`, as `kubectl get` prints it. */
export function tableOf(call: Call, objects: StoredObject[], options: TableOptions): Record<string, unknown> {
  const { group, kind, crd } = call.kind;
  const rendered = renderTable({
    ...(crd === undefined ? { kind: { group, kind } } : { columns: call.version.columns }),
    objects,
    now: options.now,
    includeObject: options.includeObject,
  });
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.metadata,
    columnDefinitions: options.headers ? rendered.columnDefinitions : null,
    rows: rendered.rows.map((row) => ({ ...row, object: row.object ?? null })),
  };
}
