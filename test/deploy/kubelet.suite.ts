import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SandboxNode } from '../../crds/sandbox-node.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import { useDaemon } from '../lab/daemon.ts';
import { until } from '../until.ts';
import { buildImage } from './image.ts';
import { KUSTOMIZE, program } from './server.ts';

const GUEST = 'docker-v2';
const KUBELET = join(import.meta.dirname, '../cluster/kubelet');
const SYSTEM = ['-n', 'holdfast-system'];
const AGENTS = ['-l', 'app.kubernetes.io/component=agent'];
/** As the manifests have it, and the one that a roll goes to. */
const IMAGES = ['holdfast:0.1.0', 'holdfast:next'] as const;

const kubectl = async (args: string[], input?: string): Promise<string> =>
  (await program(KUBELET, ['kubectl', ...args], input)).stdout;

async function get<T>(...args: string[]): Promise<T> {
  return JSON.parse(await kubectl(['get', '-o', 'json', ...args])) as T;
}

interface Pods {
  items: {
    metadata: { name: string; uid: string };
    spec: { containers: { image: string }[] };
    status: { containerStatuses?: { ready: boolean; restartCount: number; containerID: string }[] };
  }[];
}

/** For whoever has to find out why. */
async function whatThereIs(): Promise<string> {
  const asked: string[][] = [
    ['get', 'pods', '-A', '-o', 'wide'],
    ['get', 'events', '-A', '--sort-by=.lastTimestamp'],
    ['get', 'sandboxes,sandboxnodes', '-A', '-o', 'yaml'],
    [...SYSTEM, 'logs', '--tail=30', '--prefix', ...AGENTS],
    [...SYSTEM, 'logs', '--tail=30', '--prefix', '-l', 'app.kubernetes.io/component=controller'],
  ];
  const said = await Promise.allSettled(asked.map((args) => kubectl(args)));
  return said
    .map(
      (one, i) =>
        `\n== kubectl ${asked[i]?.join(' ')}\n${one.status === 'fulfilled' ? one.value : String(one.reason)}`,
    )
    .join('');
}

describe('on a kubelet beside docker-v2', () => {
  const builder = useDaemon('docker-v1');
  const node = useDaemon(GUEST);

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hf-image-'));
    try {
      const host = `unix://${builder.current.socketPath}`;
      await buildImage(host, IMAGES[0]);
      await program('docker', ['--host', host, 'tag', ...IMAGES]);
      const tar = join(folder, 'image.tar');
      await program('docker', ['--host', host, 'save', '-o', tar, ...IMAGES]);
      await program(KUBELET, ['up', GUEST]);
      await program(KUBELET, ['load', tar]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
  afterAll(async () => program(KUBELET, ['down']));
  beforeEach(({ onTestFailed }) =>
    onTestFailed(async () => {
      process.stderr.write(await whatThereIs());
    }),
  );

  const rolledOut = async (): Promise<void> => {
    for (const what of ['deployment/holdfast-controller', 'daemonset/holdfast-agent'])
      await kubectl([...SYSTEM, 'rollout', 'status', what, '--timeout=300s']);
  };
  const create = (name: string, spec: object) =>
    kubectl(
      ['create', '-f', '-'],
      JSON.stringify({
        apiVersion: 'holdfast.dev/v1alpha1',
        kind: 'Sandbox',
        metadata: { name },
        spec: { image: 'busybox:lab', ...spec },
      }),
    );
  const ready = (name: string): Promise<string> =>
    kubectl(['wait', '--for=condition=Ready', `sandbox/${name}`, '--timeout=300s']);
  const agentPod = async (): Promise<Pods['items'][number] | undefined> =>
    (await get<Pods>(...SYSTEM, 'pods', ...AGENTS)).items.find(
      ({ status }) => status.containerStatuses?.[0]?.ready,
    );
  const overlap = async () =>
    (await get<SandboxNode>('sandboxnode', GUEST)).status?.conditions?.find(
      ({ type }) => type === 'MemoryOverlap',
    );
  /** What Docker says of every container of a sandbox: another start would be another time. */
  const starts = (): Promise<string> =>
    node.current.exec(
      `docker ps -a --filter label=holdfast.dev/uid --format '{{.ID}}' | sort | xargs docker inspect --format '{{.Name}} {{.Id}} {{.State.Status}} {{.State.StartedAt}} {{.State.Pid}}'`,
    );
  /** Until another pod, or the same one again, is ready; what ran has run on, and what is new starts. */
  const undisturbed = async (name: string, disturb: (pod: Pods['items'][number]) => Promise<unknown>) => {
    const before = await starts();
    expect(before.split('\n')).toHaveLength(2);
    const pod = await until('an agent', agentPod);
    const mark = JSON.stringify(pod.status.containerStatuses?.[0]?.containerID);
    await disturb(pod);
    await until('another agent is ready', async () => {
      const now = await agentPod();
      return now !== undefined && JSON.stringify(now.status.containerStatuses?.[0]?.containerID) !== mark;
    });
    await create(name, { resources: { memory: '32Mi' } });
    await ready(name);
    await kubectl(['delete', 'sandbox', name, '--timeout=300s']);
    expect(await starts()).toBe(before);
    for (const kept of ['kept-1', 'kept-2']) await ready(kept);
  };

  it('[K7] from kubectl apply -k to sandboxes that are Ready, their limits read back', async () => {
    await kubectl(['label', 'node', GUEST, 'holdfast.dev/agent=true']);
    await kubectl(['apply', '--server-side', '-k', join(KUSTOMIZE, 'overlays/shared-nodes')]);
    await rolledOut();
    for (const name of ['kept-1', 'kept-2']) {
      await create(name, {
        resources: { memory: '64Mi', cpu: '100m' },
        setup: { command: ['echo', `hello of ${name}`] },
      });
      await ready(name);
      const { status } = await get<Sandbox>('sandbox', name);
      expect(status?.nodeName).toBe(GUEST);
      expect(status?.conditions?.find(({ type }) => type === 'LimitsEnforced')).toMatchObject({
        status: 'True',
      });
    }
  });

  it('[K7] what the kubelet gives pods is held back from sandboxes, and a smaller reserve is warned of', async () => {
    const { spec } = await get<SandboxNode>('sandboxnode', GUEST);
    expect(spec?.reserved?.memory).toBeGreaterThan(0);
    expect(await until('a word on the kubelet', overlap)).toMatchObject({
      status: 'False',
      reason: 'HeldBack',
    });
    await kubectl([
      'patch',
      'sandboxnode',
      GUEST,
      '--type=merge',
      '-p',
      '{"spec":{"reserved":{"memory":"1Gi"}}}',
    ]);
    await until('the warning', async () => (await overlap())?.reason === 'SharedWithKubelet', {
      seen: overlap,
    });
  });

  it('[K7] logs are read in the pod of the agent, by its service account', async () => {
    const command = ['node', '/app/holdfast.js', 'logs', 'kept-1', '-n', 'default', '--setup'];
    const out = await kubectl([...SYSTEM, 'exec', 'daemonset/holdfast-agent', '--', ...command]);
    expect(out).toContain('hello of kept-1');
  });

  it('[K7] the agent is killed: no sandbox is started again', async () => {
    await undisturbed('after-kill', async ({ status }) => {
      const id = status.containerStatuses?.[0]?.containerID.replace('containerd://', '');
      await node.current.exec(`ctr -a /run/kc/containerd.sock -n k8s.io tasks kill -s SIGKILL ${id}`);
    });
    expect((await agentPod())?.status.containerStatuses?.[0]?.restartCount).toBe(1);
  });

  it('[K7] the agents are rolled to another image: no sandbox is started again', async () => {
    await undisturbed('after-roll', async () => {
      await kubectl([...SYSTEM, 'set', 'image', 'daemonset/holdfast-agent', `agent=${IMAGES[1]}`]);
      await kubectl([...SYSTEM, 'rollout', 'status', 'daemonset/holdfast-agent', '--timeout=300s']);
    });
    expect((await agentPod())?.spec.containers[0]?.image).toBe(IMAGES[1]);
  });

  it("[K7] the agent's pod is deleted, at once and by force: no sandbox is started again", async () => {
    await undisturbed('after-delete', ({ metadata }) => kubectl([...SYSTEM, 'delete', 'pod', metadata.name]));
    await undisturbed('after-force', ({ metadata }) =>
      kubectl([...SYSTEM, 'delete', 'pod', metadata.name, '--force', '--grace-period=0']),
    );
  });

  it('[K7] the DaemonSet is deleted and applied again: no sandbox is started again', async () => {
    await undisturbed('after-all', async () => {
      await kubectl([...SYSTEM, 'delete', 'daemonset', 'holdfast-agent']);
      await until('no agent', async () => (await get<Pods>(...SYSTEM, 'pods', ...AGENTS)).items.length === 0);
      await kubectl(['apply', '--server-side', '-k', join(KUSTOMIZE, 'overlays/shared-nodes')]);
      await rolledOut();
    });
  });

  it('[K6] [K7] the leading controller is deleted: the other one places what comes', async () => {
    const { spec } = await get<{ spec: { holderIdentity: string } }>(
      ...SYSTEM,
      'lease',
      'holdfast-controller',
    );
    await kubectl([...SYSTEM, 'delete', 'pod', spec.holderIdentity, '--wait=false']);
    await create('after-election', {});
    await ready('after-election');
    const now = await get<{ spec: { holderIdentity: string } }>(...SYSTEM, 'lease', 'holdfast-controller');
    expect(now.spec.holderIdentity).not.toBe(spec.holderIdentity);
  });

  it('[K7] the sandboxes go, and then Holdfast, and nothing of it is left in Docker but its images', async () => {
    await kubectl(['delete', 'sandboxes', '--all', '--timeout=300s']);
    await kubectl(['delete', '-k', join(KUSTOMIZE, 'overlays/shared-nodes'), '--timeout=300s']);
    expect(await node.current.exec(`docker ps -aq --filter label=holdfast.dev/managed-by`)).toBe('');
  });
});
