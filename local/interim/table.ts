import { isRecord, type StoredObject } from '../object.ts';
import type { PrinterColumn } from '../schema/crd-types.ts';
/** Replaced by local/tables. */
export function renderTable(options: { columns: PrinterColumn[] | undefined; objects: StoredObject[]; now: Date; includeObject: string }): { columnDefinitions: unknown[]; rows: unknown[] } {
  const columns = options.columns ?? [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }];
  return {
    columnDefinitions: [
      { name: 'Name', type: 'string', format: 'name', description: 'Name', priority: 0 },
      ...columns.map((c) => ({ name: c.name, type: c.type, format: c.format ?? '', description: c.description ?? '', priority: c.priority ?? 0 })),
    ],
    rows: options.objects.map((object) => ({
      cells: [object.metadata.name, ...columns.map((c) => {
        let v: unknown = object;
        for (const k of c.jsonPath.replace(/^\./, '').split('.')) v = isRecord(v) ? v[k] : undefined;
        return v ?? null;
      })],
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
    })),
  };
}
