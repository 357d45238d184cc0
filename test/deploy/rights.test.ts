import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { AGENT_RIGHTS, CONTROLLER_RIGHTS } from '../../cli/rights.ts';
import { startController } from '../../controller/start.ts';
import type { Sandbox, SandboxSpec } from '../../crds/sandbox.ts';
import { ApiError, type KubeClient, type Resource } from '../../kube/client.ts';
import { systemClock } from '../../kube/clock.ts';
import { createKubeClient } from '../../kube/http-client.ts';
import { startAgent } from '../../runtime/agent/start.ts';
import { createDockerDriver } from '../../runtime/drivers/docker/driver.ts';
import { INIT_BINARY } from '../agent/world.ts';
import { useDaemon } from '../lab/daemon.ts';
import { until } from '../until.ts';
import { kustomize, useServer } from './server.ts';

const NODE = 'worker-1.example.internal';
const SANDBOXES = '/apis/holdfast.dev/v1alpha1/namespaces/default/sandboxes';

/**
 * What this scenario does not come to, and why it is granted all the same. Nothing else may be granted that was not
 * used.
 */
const NOT_USED_HERE: Record<string, string> = {
  'controller patch events': 'an event that comes again is counted up',
  'controller get customresourcedefinitions': 'the definitions are compared at the start',
  'agent get customresourcedefinitions': 'the definitions are compared at the start',
};

interface Seen {
  used: Set<string>;
  refused: string[];
}

/** Every call of the client, by verb and resource, and every 403. */
function watching(client: KubeClient, who: string, seen: Seen): KubeClient {
  return new Proxy(client, {
    get: (target, verb: keyof KubeClient) => {
      const method = target[verb] as (...args: unknown[]) => unknown;
      if (typeof method !== 'function') return method;
      return (...args: unknown[]): unknown => {
        const [resource] = args as [Resource];
        const { subresource } = (args.at(-1) ?? {}) as { subresource?: string };
        const what = `${who} ${verb} ${resource.plural}${subresource === undefined ? '' : `/${subresource}`}`;
        seen.used.add(what);
        const answer = method.apply(target, args);
        if (verb !== 'watch') {
          void (answer as Promise<unknown>).catch((error: unknown) => {
            if (error instanceof ApiError && error.code === 403)
              seen.refused.push(`${what}: ${error.message}`);
          });
        }
        return answer;
      };
    },
  });
}

describe('the rights of the manifests', () => {
  it('[K7] are those that controller and agent ask for at their start', async () => {
    const granted = await grantedRights();
    const asked = Object.entries({ controller: CONTROLLER_RIGHTS, agent: AGENT_RIGHTS }).flatMap(
      ([who, rights]) =>
        rights.map(({ verb, resource, subresource }) =>
          [who, verb, subresource === undefined ? resource : `${resource}/${subresource}`].join(' '),
        ),
    );
    expect(asked.filter((right) => !granted.has(right))).toEqual([]);
  });
});

describe('controller and agent with the rights of the manifests, on kube-apiserver and docker-v1', () => {
  const server = useServer({ controllerManager: false });
  const daemon = useDaemon('docker-v1');
  const seen: Seen = { used: new Set(), refused: [] };
  const ends: (() => Promise<unknown>)[] = [];

  const admin = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) =>
    server.current.admin({ method, path, ...(body !== undefined && { body }) });
  const token = async (name: string, ...more: string[]): Promise<string> =>
    (await server.current.kubectl(['-n', 'holdfast-system', 'create', 'token', name, ...more])).stdout.trim();
  const client = (bearer: string, who: string): KubeClient => {
    const made = createKubeClient({
      server: server.current.cluster.url,
      insecureSkipTLSVerify: true,
      token: bearer,
      userAgent: `holdfast-${who}`,
    });
    ends.push(async () => made.close());
    return watching(made, who, seen);
  };
  const sandbox = async (name: string): Promise<Sandbox | undefined> => {
    const { code, body } = await server.current.call(server.current.cluster.token, {
      method: 'GET',
      path: `${SANDBOXES}/${name}`,
    });
    return code === 404 ? undefined : (body as unknown as Sandbox);
  };
  const create = (name: string, spec: Partial<SandboxSpec>) =>
    admin('POST', SANDBOXES, {
      apiVersion: 'holdfast.dev/v1alpha1',
      kind: 'Sandbox',
      metadata: { name },
      spec: { image: 'busybox:lab', ...spec },
    });
  const says = (name: string, type: string, status: string) =>
    until(
      `${type}=${status} of ${name}`,
      async () => {
        const conditions = (await sandbox(name))?.status?.conditions;
        return conditions?.some((one) => one.type === type && one.status === status);
      },
      { withinMs: 60_000, seen: async () => [(await sandbox(name))?.status, seen.refused] },
    );

  beforeAll(async () => {
    if (server.missing !== undefined) return;
    await server.current.kubectl(['apply', '--server-side', '-f', '-'], await kustomize('base'));
    await admin('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } });
    await until('the CRDs are served', async () => (await sandbox('none')) === undefined);
    const dataDir = await mkdtemp(join(tmpdir(), 'hf-rights-'));
    ends.push(() => rm(dataDir, { recursive: true, force: true }));
    const log = pino({ level: process.env['HOLDFAST_TEST_LOG'] ?? 'silent' }, pino.destination(2));
    const shared = { clock: systemClock, log, random: Math.random };
    const controller = startController({
      ...shared,
      client: client(await token('holdfast-controller'), 'controller'),
      identity: 'controller-0',
      leaderElection: true,
    });
    const driver = createDockerDriver({ socketPath: daemon.current.socketPath, log, clock: systemClock });
    const bound = ['--bound-object-kind=Node', `--bound-object-name=${NODE}`];
    const agent = await startAgent({
      ...shared,
      client: client(await token('holdfast-agent', ...bound), 'agent'),
      drivers: [driver],
      nodeName: NODE,
      dataDir,
      initBinary: INIT_BINARY,
      instance: randomUUID(),
    });
    ends.push(
      () => controller.stop(),
      async () => driver.close(),
      () => agent.stop(),
    );
    await until(
      'both are ready',
      () => controller.notReady() === undefined && agent.notReady() === undefined,
      {
        seen: () => [controller.notReady(), agent.notReady(), seen.refused],
      },
    );
  }, 150_000);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });
  beforeEach((context) => {
    if (server.missing !== undefined) context.skip(server.missing);
  });

  it('[K7] a sandbox is placed, launched, suspended twice, changed and deleted, and nothing is refused', async () => {
    await create('kept', { resources: { memory: '64Mi' } });
    await says('kept', 'Ready', 'True');
    for (const suspend of [true, false, true, false]) {
      await admin('PATCH', `${SANDBOXES}/kept`, { spec: { suspend } });
      await says('kept', suspend ? 'Suspended' : 'Ready', 'True');
    }
    await create('once', { command: ['true'], ttlSecondsAfterFinished: 0 });
    await admin('DELETE', `${SANDBOXES}/kept`);
    for (const name of ['kept', 'once'])
      await until(`the end of ${name}`, async () => (await sandbox(name)) === undefined, {
        seen: () => sandbox(name),
      });
    expect(seen.refused).toEqual([]);
  });

  it('[K7] nothing is granted that neither was used nor is listed with a reason', async () => {
    const granted = await grantedRights();
    expect(granted.size).toBeGreaterThan(20);
    await until('a heartbeat', () => seen.used.has('agent update leases'), { withinMs: 30_000 });
    const idle = [...granted].filter((right) => !seen.used.has(right));
    expect(idle.filter((right) => !(right in NOT_USED_HERE))).toEqual([]);
  });
});

interface Role {
  kind: string;
  metadata: { name: string };
  rules: { resources: string[]; verbs: string[] }[];
}

async function grantedRights(): Promise<Set<string>> {
  const all = parseAllDocuments(await kustomize('base')).map((one) => one.toJS() as Role);
  const granted = new Set<string>();
  for (const { kind, metadata, rules } of all) {
    const [, who] = /^holdfast-(controller|agent)$/.exec(metadata.name) ?? [];
    if (!kind.endsWith('Role') || who === undefined) continue;
    for (const { resources, verbs } of rules)
      for (const resource of resources) for (const verb of verbs) granted.add(`${who} ${verb} ${resource}`);
  }
  return granted;
}
