import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Commitments } from './commitments.ts';
import { condition, sandbox } from './testing/objects.ts';

const Mi = 1024 ** 2;
const one = { sandboxes: 1, cpuMillis: 500, memoryBytes: 64 * Mi };
const none = { sandboxes: 0, cpuMillis: 0, memoryBytes: 0 };
const resources = { cpu: '500m', memory: '64Mi' };
const unbound = sandbox('s', { spec: { resources } });
const bound = sandbox('s', { spec: { resources }, status: { nodeName: 'a' } });

describe('what is promised of a node', () => {
  it('[K4] counts the limits of a bound sandbox, and not for itself', () => {
    const commitments = new Commitments();
    commitments.observe(bound);
    expect(commitments.loadOf('a', 'other')).toEqual(one);
    expect(commitments.loadOf('a', 'uid-s')).toEqual(none);
    expect(commitments.loadOf('b', 'other')).toEqual(none);
  });

  it('[K4] a sandbox without limits, or with refused ones, counts as one sandbox', () => {
    const commitments = new Commitments();
    commitments.observe(sandbox('x', { status: { nodeName: 'a' } }));
    commitments.observe(sandbox('y', { spec: { resources: { cpu: 'no' } }, status: { nodeName: 'a' } }));
    expect(commitments.loadOf('a', '')).toEqual({ ...none, sandboxes: 2 });
  });

  it('[K4] counts a binding that is still on its way, though the watch shows none yet', () => {
    const commitments = new Commitments();
    commitments.assume(unbound, 'a');
    commitments.observe(unbound);
    expect(commitments.loadOf('a', '')).toEqual(one);
  });

  it('forgets a binding that the API refused, but not one that it has shown', () => {
    const commitments = new Commitments();
    commitments.assume(unbound, 'a');
    commitments.forgetAssumed('uid-s');
    expect(commitments.loadOf('a', '')).toEqual(none);
    commitments.observe(bound);
    commitments.forgetAssumed('uid-s');
    commitments.assume(unbound, 'b');
    expect(commitments.loadOf('a', '')).toEqual(one);
    expect(commitments.loadOf('b', '')).toEqual(none);
  });

  it('frees the room when the sandbox is handed back, has ended, or is gone', () => {
    const commitments = new Commitments();
    commitments.observe(bound);
    commitments.observe(unbound);
    expect(commitments.loadOf('a', '')).toEqual(none);
    commitments.observe(bound);
    commitments.observe({
      ...bound,
      status: { nodeName: 'a', conditions: [condition('Complete', 'True', 'Succeeded')] },
    });
    expect(commitments.loadOf('a', '')).toEqual(none);
    commitments.observe(bound);
    commitments.forget('uid-s');
    commitments.forget('uid-s');
    expect(commitments.loadOf('a', '')).toEqual(none);
  });

  it('a suspended sandbox keeps its room: it may be resumed where it is', () => {
    const commitments = new Commitments();
    commitments.observe({
      ...bound,
      status: { nodeName: 'a', conditions: [condition('Suspended', 'True', 'SuspendedByUser')] },
    });
    expect(commitments.loadOf('a', '')).toEqual(one);
  });

  it('follows a change of limits and of the node', () => {
    const commitments = new Commitments();
    commitments.observe(bound);
    commitments.observe(sandbox('s', { spec: { resources: { memory: '1Mi' } }, status: { nodeName: 'b' } }));
    expect(commitments.loadOf('a', '')).toEqual(none);
    expect(commitments.loadOf('b', '').sandboxes).toBe(1);
  });

  it('the sums are those of the sandboxes after any sequence', () => {
    const step = fc.record({
      name: fc.constantFrom('p', 'q', 'r'),
      node: fc.constantFrom('', 'a', 'b'),
      memory: fc.integer({ min: 6, max: 99 }).map((n) => `${n}Mi`),
      what: fc.constantFrom('observe', 'assume', 'forget', 'refuse'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const commitments = new Commitments();
        for (const { name, node, memory, what } of steps) {
          const object = sandbox(name, { spec: { resources: { memory } }, status: { nodeName: node } });
          if (what === 'observe') commitments.observe(object);
          else if (what === 'assume') commitments.assume(object, node === '' ? 'a' : node);
          else if (what === 'forget') commitments.forget(`uid-${name}`);
          else commitments.forgetAssumed(`uid-${name}`);
        }
        for (const node of ['a', 'b']) {
          const all = commitments.loadOf(node, '');
          expect(all.memoryBytes === 0).toBe(all.sandboxes === 0);
          const shares = ['p', 'q', 'r'].map(
            (name) => all.memoryBytes - commitments.loadOf(node, `uid-${name}`).memoryBytes,
          );
          expect(shares.reduce((sum, share) => sum + share, 0)).toBe(all.memoryBytes);
        }
        for (const name of ['p', 'q', 'r']) commitments.forget(`uid-${name}`);
        expect([commitments.loadOf('a', ''), commitments.loadOf('b', '')]).toEqual([none, none]);
      }),
    );
  });
});
