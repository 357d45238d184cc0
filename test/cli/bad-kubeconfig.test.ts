import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { crdManifests } from '../../crds/crd-manifests.ts';
import type { KubeObject } from '../../kube/client.ts';
import { createKubeClient } from '../../kube/http-client.ts';
import type { Lease } from '../../kube/lease.ts';
import { CRDS, LEASES, SANDBOX_NODES } from '../../kube/resources.ts';
import { useServer } from '../deploy/server.ts';
import { until } from '../until.ts';

/** A command that runs until it is told to stop. */
class Running {
  text = '';
  readonly #stop = new AbortController();
  readonly #code: Promise<number>;

  constructor(args: string[]) {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    for (const stream of [stdout, stderr])
      stream.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
    this.#code = run([...args, '--log-format', 'json'], { stdout, stderr, env: {}, stop: this.#stop.signal });
  }

  async end(): Promise<number> {
    this.#stop.abort();
    return this.#code;
  }

  /** Of one that ends by itself: its code, and the last line. */
  async ended(): Promise<{ code: number; last: string }> {
    const code = await this.#code;
    await new Promise((resolve) => setImmediate(resolve));
    return { code, last: this.text.trim().split('\n').at(-1) ?? '' };
  }
}

/** On a kube-apiserver without our kinds. */
describe('a kubeconfig that is not good enough', () => {
  const server = useServer();
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-kc-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const kubeconfig = async (name: string, cluster: object, user: object): Promise<string> => {
    const file = join(folder, name);
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    return file;
  };
  const insecure = () => ({ server: server.current.cluster.url, 'insecure-skip-tls-verify': true });
  const controller = (file: string): Running => new Running(['controller', '--kubeconfig', file]);

  it('[K5] that is missing ends it with 1 and one line', async ({ skip }) => {
    if (server.missing !== undefined) skip(server.missing);
    const { code, last } = await controller(join(folder, 'none')).ended();
    expect({ code, last }).toEqual({
      code: 1,
      last: `holdfast: ${join(folder, 'none')}: cannot be read (ENOENT)`,
    });
  });

  it('[K5] whose credentials have expired ends it with 1 and one line', async ({ skip }) => {
    if (server.missing !== undefined) skip(server.missing);
    const file = await kubeconfig('expired', insecure(), { token: 'of-yesterday' });
    const { code, last } = await controller(file).ended();
    expect(code).toBe(1);
    expect(last).toBe(
      `holdfast: ${file}: ${server.current.cluster.url} does not accept the credentials (401): expired, or of another cluster`,
    );
  });

  it('[K5] of another cluster, by its certificate, ends it with 1 and one line', async ({ skip }) => {
    if (server.missing !== undefined) skip(server.missing);
    const { url, token } = server.current.cluster;
    const file = await kubeconfig('other', { server: url }, { token });
    const { code, last } = await controller(file).ended();
    expect(code).toBe(1);
    expect(last).toContain(`${file}: ${url} has another certificate than expected`);
    expect(last).toContain('is this the address of another cluster?');
  });

  it('[K5] [K7] that lacks rights ends it with 1, and names each verb on each resource', async ({ skip }) => {
    if (server.missing !== undefined) skip(server.missing);
    const file = await kubeconfig('nobody', insecure(), { token: server.current.cluster.nobodyToken });
    const { code, last } = await controller(file).ended();
    expect(code).toBe(1);
    expect(last).toBe(
      `holdfast: ${file}: missing rights on ${server.current.cluster.url}: ` +
        'list, watch, patch, delete sandboxes.holdfast.dev; update sandboxes.holdfast.dev/status; ' +
        'list, watch sandboxnodes.holdfast.dev; ' +
        'get, list, watch, create leases.coordination.k8s.io in holdfast-system; ' +
        'update leases.coordination.k8s.io "holdfast-controller" in holdfast-system; create, patch events',
    );
  });

  it('[K5] [K2] without our kinds it says so, waits, and works once they are there; deleted, it goes on when they are back', async ({
    skip,
  }) => {
    if (server.missing !== undefined) skip(server.missing);
    const { url, token } = server.current.cluster;
    const client = createKubeClient({ server: url, token, insecureSkipTLSVerify: true, userAgent: 'test' });
    const running = controller(await kubeconfig('admin', insecure(), { token }));
    try {
      await until('the word on the kinds', () =>
        running.text.includes('the cluster has no CustomResourceDefinition sandboxes.holdfast.dev'),
      );
      const install = async (): Promise<void> => {
        for (const crd of crdManifests() as unknown as KubeObject[]) {
          await until(`the definition ${crd.metadata.name}`, () =>
            client.create(CRDS, crd).then(
              () => true,
              () => undefined,
            ),
          );
        }
      };
      await install();
      await until('the leadership', () =>
        client
          .get<Lease>(LEASES, { namespace: 'holdfast-system', name: 'holdfast-controller' })
          .then(({ spec }) => (spec?.holderIdentity ?? '') !== '')
          .catch(() => undefined),
      );
      for (const { metadata } of crdManifests()) await client.delete(CRDS, { name: metadata.name });
      await until('that it noticed', () => running.text.includes('the API has no such kind'));
      await install();
      await until('the kinds', () =>
        client.list(SANDBOX_NODES, {}).then(
          () => true,
          () => undefined,
        ),
      );
    } finally {
      client.close();
      expect(await running.end()).toBe(0);
    }
    expect(running.text).not.toContain('"level":60');
  });
});
