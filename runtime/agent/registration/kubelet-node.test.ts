import { describe, expect, it } from 'vitest';
import { ApiError, type KubeObject } from '../../../kube/client.ts';
import { FakeClock } from '../../../kube/testing/fake-clock.ts';
import { FakeKubeClient } from '../../../kube/testing/fake-client.ts';
import { silent } from '../../../kube/testing/fixtures.ts';
import { NODES } from '../../../kube/resources.ts';
import { type KubeletNode, KubeletNodeReader, memoryOverlap } from './kubelet-node.ts';

const GI = 1024 ** 3;
const node = (spec: KubeletNode['spec'], memory = '15Gi'): KubeletNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  spec: spec ?? {},
  status: { allocatable: { memory } },
});

describe('memory that kubelet and sandboxes could both be promised', () => {
  it('[K7] is no question where there is no kubelet, or one that says nothing readable', () => {
    expect(memoryOverlap(undefined, undefined)).toBeUndefined();
    expect(memoryOverlap(node({}, 'much'), undefined)).toBeUndefined();
    expect(memoryOverlap({ ...node({}), status: {} }, undefined)).toBeUndefined();
  });

  it('[K7] is what the kubelet gives less what is reserved from sandboxes', () => {
    const found = memoryOverlap(node({}), { memory: '3Gi' });
    expect(found).toMatchObject({ type: 'MemoryOverlap', status: 'True', reason: 'SharedWithKubelet' });
    expect(found?.message).toContain(`${15 * GI} bytes`);
    expect(found?.message).toContain(`up to ${12 * GI} bytes could be promised twice`);
  });

  it('[K7] is none where all that the kubelet gives is reserved from sandboxes', () => {
    const held = { status: 'False', reason: 'HeldBack' };
    expect(memoryOverlap(node({}), { memory: '15Gi' })).toMatchObject(held);
    expect(memoryOverlap(node({}), { memory: 15 * GI - 1 })).toMatchObject({ status: 'True' });
  });

  it.each([
    [{ taints: [{ key: 'holdfast.dev/dedicated', effect: 'NoSchedule' }] }, 'False'],
    [{ taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoExecute' }] }, 'False'],
    [{ unschedulable: true }, 'False'],
    [{ taints: [{ key: 'holdfast.dev/dedicated', effect: 'PreferNoSchedule' }] }, 'True'],
    [{ taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] }, 'True'],
  ])('[K7] on a node with %j: %s', (spec, status) => {
    expect(memoryOverlap(node(spec), undefined)).toMatchObject({ status });
  });

  it.each([
    ['16270088Ki', 16270088 * 1024],
    ['1500m', 1],
    ['2e9', 2e9],
    ['1.5G', 1.5e9],
  ])('[K7] reads %s as a kubelet means it', (memory, bytes) => {
    expect(memoryOverlap(node({}, memory), undefined)?.message).toContain(`give pods ${bytes} bytes`);
  });
});

describe('the look at the Node', () => {
  it('[K5] is made once in half a minute, and a refusal or a failure stops nothing', async () => {
    const clock = new FakeClock();
    const client = new FakeKubeClient({ now: () => clock.now() });
    const reader = new KubeletNodeReader({ client, clock, log: silent, nodeName: 'n' });
    const { signal } = new AbortController();
    expect(await reader.read(signal)).toBeUndefined();
    await client.create<KubeObject>(NODES, node({}));
    expect(await reader.read(signal)).toBeUndefined();
    await clock.advance(30_000);
    expect((await reader.read(signal))?.metadata.name).toBe('n');
    client.before = () => {
      throw new ApiError('later', { code: 503 });
    };
    await clock.advance(30_000);
    expect((await reader.read(signal))?.metadata.name).toBe('n');
    client.before = () => {
      throw new ApiError('no', { code: 403 });
    };
    await clock.advance(30_000);
    expect(await reader.read(signal)).toBeUndefined();
  });
});
