import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../kube/clock.ts';
import { createDockerDriver } from '../../runtime/drivers/docker/driver.ts';
import { until } from '../until.ts';
import { useDaemon } from '../lab/daemon.ts';
import { holdfast, HoldfastProcess, kubectl } from './holdfast-process.ts';

const NODE = 'cli-apart';

function manifest(name: string, command: string[]): string {
  return JSON.stringify({
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'Sandbox',
    metadata: { name, namespace: 'default' },
    spec: { image: 'busybox:lab', imagePullPolicy: 'Never', command, resources: { memory: '64Mi' } },
  });
}

/** The API of `holdfast api`; a kube-apiserver too where HOLDFAST_TEST_KUBECONFIG names one that may be written to. */
const real = process.env['HOLDFAST_TEST_KUBECONFIG'];
const servers: { name: string; kubeconfig: string | undefined }[] = [
  { name: 'embedded', kubeconfig: undefined },
  ...(real === undefined ? [] : [{ name: 'kube-apiserver', kubeconfig: real }]),
];

describe.each(servers)('controller and agent apart on docker-v1, $name', (server) => {
  const daemon = useDaemon('docker-v1');
  let dataDir = '';
  let kubeconfig = '';
  let api: HoldfastProcess | undefined;
  let running: HoldfastProcess[] = [];

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'holdfast-apart-'));
    kubeconfig = server.kubeconfig ?? join(dataDir, 'kubeconfig');
    if (server.kubeconfig === undefined) {
      api = new HoldfastProcess(['api', '--data-dir', dataDir]);
      await api.says('export KUBECONFIG=');
    } else {
      await kubectl(kubeconfig, ['apply', '-f', '-'], (await holdfast(['crds'])).stdout);
      await kubectl(kubeconfig, ['wait', '--for=condition=Established', 'crd/sandboxes.holdfast.dev']);
    }
  });
  afterEach(async () => {
    await kubectl(kubeconfig, ['delete', 'sandboxes', '--all', '--timeout=60s']);
    for (const one of running.reverse()) await one.end();
    running = [];
  });
  afterAll(async () => {
    expect((await api?.end())?.code ?? 0).toBe(0);
    const url = `unix://${daemon.current.socketPath}`;
    const driver = createDockerDriver({ url, log: pino({ level: 'silent' }), clock: systemClock });
    const labels = { 'holdfast.dev/node': NODE };
    for (const { id } of await driver.listContainers({ labels })) await driver.removeContainer(id, {});
    for (const { name } of await driver.listVolumes({ labels })) await driver.removeVolume(name, {});
    driver.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  function start(...args: string[]): HoldfastProcess {
    const one = new HoldfastProcess([...args, '--kubeconfig', kubeconfig]);
    running.push(one);
    return one;
  }

  function startAgent(): HoldfastProcess {
    return start(
      'agent',
      '--data-dir',
      dataDir,
      '--node-name',
      NODE,
      '--docker',
      `unix://${daemon.current.socketPath}`,
    );
  }

  it('[K1] [K2] a sandbox goes from kubectl to its output', async () => {
    start('controller', '--identity', 'one');
    startAgent();
    await kubectl(kubeconfig, ['apply', '-f', '-'], manifest('apart', ['echo', 'hello']));
    await kubectl(kubeconfig, ['wait', '--for=condition=Complete', 'sandbox/apart', '--timeout=60s']);
    const { stdout } = await holdfast(['logs', 'apart', '--kubeconfig', kubeconfig, '--data-dir', dataDir]);
    expect(stdout).toBe('hello\n');
    expect(await kubectl(kubeconfig, ['describe', 'sandbox', 'apart'])).toContain('holdfast-agent');
  });

  it('[K6] when the leading controller is killed with -9 another leads, and nothing is placed before', async () => {
    const first = start('controller', '--identity', 'first');
    const lease = async (): Promise<{ holderIdentity?: string; renewTime: string; acquireTime: string }> =>
      await kubectl(kubeconfig, [
        'get',
        'lease',
        'holdfast-controller',
        '--namespace=holdfast-system',
        '--output=jsonpath={.spec}',
      ]).then(
        (spec) => JSON.parse(spec) as { holderIdentity?: string; renewTime: string; acquireTime: string },
        // Not there yet.
        () => ({ renewTime: '', acquireTime: '' }),
      );
    const leader = async (): Promise<string | undefined> => (await lease()).holderIdentity;
    await until('the first leads', async () => (await leader()) === 'first');
    start('controller', '--identity', 'second');
    startAgent();
    await until('the second waits', async () => running[1]?.stderr.includes('lease held by another'));
    first.signal('SIGKILL');
    await first.ended();
    const last = await lease();
    await kubectl(kubeconfig, ['apply', '-f', '-'], manifest('after', ['true']));
    await until('the second leads', async () => (await leader()) === 'second');
    // However slow this machine is: not before the lease of the first had run out.
    const waitedMs = Date.parse((await lease()).acquireTime) - Date.parse(last.renewTime);
    expect(waitedMs).toBeGreaterThanOrEqual(15_000);
    await kubectl(kubeconfig, ['wait', '--for=condition=Complete', 'sandbox/after', '--timeout=60s']);
  });
});
