import { renderTable } from '../interim/table.ts';
import type { StoredObject } from '../object.ts';
import type { Call } from './call.ts';

export interface TableOptions {
  metadata: Record<string, unknown>;
  /** Whether the columns are named. */
  headers: boolean;
  /** What each row carries: `None`, `Metadata`, `Object`. */
  includeObject: string;
}

/** `meta.k8s.io/v1 Table`, as `kubectl get` prints it. */
export function tableOf(call: Call, objects: StoredObject[], options: TableOptions): Record<string, unknown> {
  const rendered = renderTable({
    columns: call.version.columns,
    objects,
    now: new Date(),
    includeObject: options.includeObject,
  });
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.metadata,
    columnDefinitions: options.headers ? rendered.columnDefinitions : null,
    rows: rendered.rows,
  };
}
