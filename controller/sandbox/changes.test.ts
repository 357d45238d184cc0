import { describe, expect, it } from 'vitest';
import type { SandboxNode } from '../../crds/sandbox-node.ts';
import { condition, docker, limitsAll, sandbox, sandboxNode } from '../testing/objects.ts';
import { isBehind, mattersToPlacement, mayChangeItsMind } from './changes.ts';

const node = sandboxNode('a');
const low = (status: 'True' | 'False', message: string): SandboxNode =>
  sandboxNode('a', { conditions: [condition('StorageReserveLow', status, 'ReserveLow', message)] });

describe('changes of a node', () => {
  it.each<[string, SandboxNode, SandboxNode, boolean, boolean]>([
    ['nothing', node, node, false, false],
    [
      'the time of asking',
      node,
      sandboxNode('a', { runtimes: [docker({ askedAt: '2026-01-01T00:00:00Z' })] }),
      false,
      false,
    ],
    ['a label', node, sandboxNode('a', { labels: { a: 'b' } }), true, false],
    ['a figure in a message', low('True', '900 MiB'), low('True', '901 MiB'), true, false],
    ['a verdict', low('True', 'x'), low('False', 'x'), true, true],
    ['its spec', node, sandboxNode('a', { spec: { storageReserveMiB: 1 } }), true, true],
    ['a runtime that is ready', sandboxNode('a', { runtimes: [docker({ ready: false })] }), node, true, true],
    [
      'a limit that can be enforced',
      sandboxNode('a', { runtimes: [docker({ limits: limitsAll({ enforced: 'No', reason: 'x' }) })] }),
      node,
      true,
      true,
    ],
    [
      'another object of the name',
      node,
      { ...node, metadata: { ...node.metadata, uid: 'other' } },
      true,
      true,
    ],
  ])('[S2] %s', (_, old, now, matters, mind) => {
    expect([mattersToPlacement(old, now), mayChangeItsMind(old, now)]).toEqual([matters, mind]);
  });
});

describe('views that are behind', () => {
  const at = (resourceVersion: string): ReturnType<typeof sandbox> =>
    sandbox('s', { metadata: { resourceVersion } });

  it.each([
    ['9', '10', true],
    ['10', '10', false],
    ['11', '10', false],
    ['9007199254740993', '9007199254740994', true],
    ['a', '10', false],
    ['9', 'b', false],
  ])('version %s, written %s: behind is %s', (seen, written, behind) => {
    expect(isBehind(at(seen), written)).toBe(behind);
  });

  it('without a version it is believed', () => {
    const { resourceVersion: _, ...metadata } = at('1').metadata;
    expect(isBehind({ ...at('1'), metadata }, '2')).toBe(false);
  });
});
