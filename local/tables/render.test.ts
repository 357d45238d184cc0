import { describe, expect, it } from 'vitest';
import { renderTable } from './render.ts';

const now = new Date('2024-01-01T01:00:00Z');
const object = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a', creationTimestamp: '2024-01-01T00:00:00Z', labels: { x: 'y' } },
  spec: { n: 2.5, i: 3, on: true, text: 'abc', map: { k: 'v' } },
};

const cell = (type: string, jsonPath: string): unknown =>
  renderTable({ columns: [{ name: 'A', type, jsonPath }], objects: [object], now }).rows[0]?.cells[1];

describe('renderTable', () => {
  it('[K1] shows name and age of a kind that names no columns', () => {
    const table = renderTable({ objects: [object], now });
    expect(table.columnDefinitions.map(({ name, type }) => [name, type])).toEqual([
      ['Name', 'string'],
      ['Age', 'date'],
    ]);
    expect(table.rows[0]?.cells).toEqual(['a', '60m']);
  });

  it.each<[string, string, unknown]>([
    ['string', '.spec.text', 'abc'],
    ['string', '.spec.i', '3'],
    ['string', '.spec.n', '2.5'],
    ['string', '.spec.map', '{"k":"v"}'],
    ['integer', '.spec.i', 3],
    ['integer', '.spec.n', 2],
    ['integer', '.spec.text', null],
    ['number', '.spec.n', 2.5],
    ['boolean', '.spec.on', true],
    ['boolean', '.spec.text', null],
    ['date', '.metadata.creationTimestamp', '60m'],
    ['date', '.spec.text', '<invalid>'],
    ['date', '.spec.i', null],
    ['string', '.spec.missing', null],
    ['string', '.spec.map[0]', null],
    ['string', '.spec[', null],
    ['odd', '.spec.text', null],
  ])('[K1] a column of type %s at %s', (type, path, expected) => {
    expect(cell(type, path)).toEqual(expected);
  });

  it('[K1] rows carry metadata, nothing, or the object', () => {
    const row = (includeObject: string | undefined): unknown =>
      renderTable({ objects: [object], now, includeObject }).rows[0]?.object;
    const metadata = {
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: object.metadata,
    };
    expect(row(undefined)).toEqual(metadata);
    expect(row('Metadata')).toEqual(metadata);
    expect(row('None')).toBeNull();
    expect(row('Object')).toEqual(object);
  });

  it.each<[string, string, object, unknown[]]>([
    ['', 'Namespace', { status: { phase: 'Active' } }, ['a', 'Active', '60m']],
    ['', 'ConfigMap', { data: { x: '1' }, binaryData: { y: 'AA==' } }, ['a', 2, '60m']],
    ['', 'Secret', { type: 'Opaque', data: { x: '' } }, ['a', 'Opaque', 1, '60m']],
    ['', 'ServiceAccount', {}, ['a', '60m']],
    ['coordination.k8s.io', 'Lease', { spec: { holderIdentity: 'me' } }, ['a', 'me', '60m']],
    ['rbac.authorization.k8s.io', 'Role', {}, ['a', '2024-01-01T00:00:00Z']],
    [
      'rbac.authorization.k8s.io',
      'RoleBinding',
      {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'ServiceAccount', name: 's', namespace: 'n' },
        ],
      },
      ['a', 'Role/r', '60m', 'u', '', 'n/s'],
    ],
    [
      '',
      'Event',
      {
        involvedObject: { kind: 'Thing', name: 't' },
        reason: 'R',
        message: ' m ',
        type: 'Normal',
        eventTime: '2024-01-01T00:58:00.000000Z',
        reportingComponent: 'c',
        reportingInstance: 'i',
      },
      ['2m', 'Normal', 'R', 'thing/t', '', 'c, i', 'm', '2m', 1, 'a'],
    ],
  ])('[K1] the columns of %s %s', (group, kind, fields, expected) => {
    const table = renderTable({ kind: { group, kind }, objects: [{ ...object, ...fields }], now });
    expect(table.rows[0]?.cells).toEqual(expected);
    expect(table.columnDefinitions).toHaveLength(expected.length);
  });
});
