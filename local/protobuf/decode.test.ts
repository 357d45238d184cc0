import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeProtobuf, ProtobufError } from './decode.ts';

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const bytes = (number: number, value: number[] | string): number[] => {
  const data = typeof value === 'string' ? [...Buffer.from(value)] : value;
  return [...varint(number * 8 + 2), ...varint(data.length), ...data];
};
const number = (field: number, value: number): number[] => [...varint(field * 8), ...varint(value)];
const envelope = (apiVersion: string, kind: string, raw: number[]): Uint8Array =>
  Uint8Array.from([
    ...Buffer.from('k8s\0'),
    ...bytes(1, [...bytes(1, apiVersion), ...bytes(2, kind)]),
    ...bytes(2, raw),
    ...bytes(3, ''),
    ...bytes(4, ''),
  ]);
const meta = (name: string): number[] => bytes(1, [...bytes(1, name), ...bytes(2, ''), ...bytes(8, [])]);

describe('decodeProtobuf', () => {
  it('[K1] reads a namespace as kubectl sends it: empty fields and zero times are left out', () => {
    const raw = [...meta('n'), ...bytes(2, []), ...bytes(3, bytes(1, ''))];
    expect(decodeProtobuf(envelope('v1', 'Namespace', raw))).toEqual({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'n' },
    });
  });

  it('[K1] reads maps, bytes, lists and times', () => {
    const entry = (key: string, value: string): number[] => [...bytes(1, key), ...bytes(2, value)];
    const metadata = bytes(1, [
      ...bytes(1, 's'),
      ...bytes(11, entry('a', 'b')),
      ...bytes(11, entry('__proto__', 'c')),
      ...bytes(14, 'example.com/x'),
      ...bytes(8, number(1, 60)),
      ...number(10, 30),
    ]);
    const decoded = decodeProtobuf(
      envelope('v1', 'Secret', [...metadata, ...bytes(2, entry('k', 'v')), ...number(5, 0)]),
    );
    expect(JSON.parse(JSON.stringify(decoded))).toEqual(
      JSON.parse(
        '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","labels":{"a":"b","__proto__":"c"},"finalizers":["example.com/x"],"creationTimestamp":"1970-01-01T00:01:00Z","deletionGracePeriodSeconds":30},"data":{"k":"dg=="},"immutable":false}',
      ),
    );
  });

  it('[K1] reads an access review and delete options', () => {
    const attributes = [...bytes(1, 'n'), ...bytes(2, 'create'), ...bytes(5, 'sandboxes')];
    const review = envelope(
      'authorization.k8s.io/v1',
      'SelfSubjectAccessReview',
      bytes(2, bytes(1, attributes)),
    );
    expect(decodeProtobuf(review)).toMatchObject({
      spec: { resourceAttributes: { namespace: 'n', verb: 'create', resource: 'sandboxes' } },
    });
    const options = envelope('holdfast.dev/v1alpha1', 'DeleteOptions', [
      ...number(1, 0),
      ...bytes(2, bytes(1, 'uid')),
      ...bytes(4, 'Foreground'),
      ...bytes(5, 'All'),
    ]);
    expect(decodeProtobuf(options)).toMatchObject({
      gracePeriodSeconds: 0,
      preconditions: { uid: 'uid' },
      propagationPolicy: 'Foreground',
      dryRun: ['All'],
    });
  });

  it('[K1] reads the microseconds of a lease', () => {
    const time = [...number(1, 1), ...number(2, 500_000_000)];
    const lease = envelope(
      'coordination.k8s.io/v1',
      'Lease',
      bytes(2, [...bytes(1, ''), ...number(2, 15), ...bytes(4, time)]),
    );
    expect(decodeProtobuf(lease)).toMatchObject({
      spec: { holderIdentity: '', leaseDurationSeconds: 15, renewTime: '1970-01-01T00:00:01.500000Z' },
    });
  });

  it.each<[string, Uint8Array]>([
    ['no prefix', Uint8Array.from([1, 2, 3, 4, 5])],
    ['nothing', new Uint8Array()],
    ['a kind that is not known', envelope('v1', 'Pod', [])],
    ['a custom kind', envelope('holdfast.dev/v1alpha1', 'Sandbox', [])],
    ['a message that is cut off', envelope('v1', 'Namespace', meta('n')).subarray(0, 20)],
    ['a name that is a number', envelope('v1', 'Namespace', bytes(1, number(1, 5)))],
    ['a group (a wire type of old)', envelope('v1', 'Namespace', [3])],
  ])('[K1] refuses %s', (_name, body) => {
    expect(() => decodeProtobuf(body)).toThrow(ProtobufError);
  });

  it('[K1] throws nothing but a ProtobufError, whatever it is given', () => {
    const kind = fc.constantFrom('Namespace', 'Secret', 'Event', 'DeleteOptions', 'ConfigMap', 'Other');
    const good = fc
      .tuple(kind, fc.uint8Array({ maxLength: 200 }))
      .map(([name, raw]) => envelope('v1', name, [...raw]));
    const body = fc.oneof(good, fc.uint8Array({ maxLength: 200 }));
    fc.assert(
      fc.property(body, (data) => {
        try {
          decodeProtobuf(data);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('[K1] a body with any byte changed is read or refused', () => {
    const whole = envelope('v1', 'Secret', [
      ...meta('secret'),
      ...bytes(2, [...bytes(1, 'k'), ...bytes(2, 'v')]),
      ...bytes(3, 'Opaque'),
    ]);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, value) => {
        const changed = Uint8Array.from(whole);
        changed[at] = value;
        try {
          decodeProtobuf(changed);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
