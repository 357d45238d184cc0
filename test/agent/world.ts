import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { type Logger, pino } from 'pino';
import type { Condition } from '../../crds/meta.ts';
import type { ConditionType, EventReason } from '../../crds/conditions.ts';
import type { Sandbox, SandboxSpec } from '../../crds/sandbox.ts';
import type { SandboxNode, SandboxNodeStatus } from '../../crds/sandbox-node.ts';
import { API_VERSION } from '../../crds/group.ts';
import { crdManifests } from '../../crds/crd-manifests.ts';
import { startController } from '../../controller/start.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { type Clock, systemClock } from '../../kube/clock.ts';
import { createKubeClient } from '../../kube/http-client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { EVENTS, SANDBOX_NODES, SANDBOXES } from '../../kube/resources.ts';
import { startLocalAPI } from '../../local/server.ts';
import type { Agent } from '../../runtime/agent/options.ts';
import type { RuntimeDriver } from '../../runtime/driver.ts';
import { startAgent } from '../../runtime/agent/start.ts';
import { readOutput } from '../../runtime/agent/output/reader.ts';
import { createDockerDriver } from '../../runtime/drivers/docker/driver.ts';
import { until } from '../until.ts';
import { fileInVolume } from './volume-file.ts';

export const INIT_BINARY = join(import.meta.dirname, '../../runtime/init/build/holdfast-init');

export type TestSandbox = Sandbox & { metadata: { uid: string; namespace: string } };

/** API, controller and agent, all real, in this process, on one daemon or the fake driver. */
export interface World {
  readonly client: KubeClient;
  readonly driver: RuntimeDriver;
  readonly dataDir: string;
  readonly nodeName: string;
  readonly api: { url: string; caData: string; adminToken: string };
  readonly log: Logger;
  startAgent(options?: {
    socketPath?: string;
    nodeName?: string;
    dataDir?: string;
    clock?: Clock;
    leaseSeconds?: number;
  }): Promise<Agent>;
  create(name: string, spec: Partial<SandboxSpec>): Promise<TestSandbox>;
  get(sandbox: { metadata: { name: string } }): Promise<TestSandbox | undefined>;
  edit(sandbox: { metadata: { name: string } }, change: (spec: SandboxSpec) => void): Promise<void>;
  remove(sandbox: { metadata: { name: string } }): Promise<void>;
  /** Deletes every sandbox; does not wait. */
  removeAll(): Promise<void>;
  /** Until the API has it no more. */
  gone(sandbox: { metadata: { name: string } }): Promise<void>;
  /** Until the condition has the status, and the reason where one is given. */
  awaits(
    sandbox: { metadata: { name: string } },
    type: ConditionType,
    status: Condition['status'],
    reason?: string,
  ): Promise<TestSandbox>;
  until(
    sandbox: { metadata: { name: string } },
    what: string,
    test: (sandbox: TestSandbox) => boolean,
  ): Promise<TestSandbox>;
  events(sandbox: {
    metadata: { name: string };
  }): Promise<{ reason: string; message: string; count: number }[]>;
  /** Until there is one: events are written after the status that they belong to. */
  awaitsEvent(sandbox: { metadata: { name: string } }, reason: EventReason): Promise<void>;
  output(sandbox: { metadata: { uid?: string } }, launch?: 'setup' | 'main'): Promise<string>;
  /** Data folders of agents in processes of their own, by node. */
  readonly dataDirs: Map<string, string>;
  /** As `output`, of the sandbox on the node that its selector names. */
  outputOn(sandbox: { metadata: { uid?: string } }, nodeSelector: Record<string, string>): Promise<string>;
  /** A file of the sandbox's workspace. */
  workspace(sandbox: { metadata: { uid?: string } }, file: string): Promise<string>;
  /** Gives the node the label that selects it alone, once it is there. */
  labelNode(nodeName: string): Promise<void>;
  nodeSays(nodeName: string, test: (status: SandboxNodeStatus) => boolean): Promise<void>;
  nodeReady(nodeName: string): Promise<void>;
  /** A call to the daemon by somebody else. */
  docker(method: string, path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

const NAMESPACE = 'default';

export function condition(sandbox: Sandbox | undefined, type: ConditionType): Condition | undefined {
  return sandbox?.status?.conditions?.find((one) => one.type === type);
}

export async function openWorld(
  options: ({ socketPath: string } | { driver: RuntimeDriver }) & {
    withController?: boolean;
    withAgent?: boolean;
    logLevel?: string;
  },
): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'hf-agent-'));
  const log = pino(
    { level: options.logLevel ?? process.env['HOLDFAST_TEST_LOG'] ?? 'silent' },
    pino.destination(2),
  );
  const api = await startLocalAPI({ dataDir: join(folder, 'api'), crds: crdManifests(), log });
  const client = createKubeClient({
    server: api.url,
    caData: api.caData,
    token: api.adminToken,
    userAgent: 'holdfast-test',
  });
  const controller =
    options.withController === false
      ? undefined
      : startController({
          client,
          clock: systemClock,
          log,
          random: Math.random,
          identity: 'test',
          leaderElection: false,
        });
  const ownDrivers: { close(): void }[] = [];
  const driverOn = (socketPath: string): RuntimeDriver => {
    const made = createDockerDriver({ socketPath, log, clock: systemClock });
    ownDrivers.push(made);
    return made;
  };
  const driver = 'driver' in options ? options.driver : driverOn(options.socketPath);
  const nodeName = `node-${randomUUID().slice(0, 8)}`;
  const dataDir = join(folder, 'agent');
  const agents: Agent[] = [];

  const world: World = {
    client,
    driver,
    dataDir,
    nodeName,
    api,
    log,
    startAgent: async (how = {}) => {
      const own = how.socketPath === undefined ? driver : driverOn(how.socketPath);
      const agent = await startAgent({
        client,
        drivers: [own],
        nodeName: how.nodeName ?? nodeName,
        dataDir: how.dataDir ?? dataDir,
        initBinary: INIT_BINARY,
        clock: how.clock ?? systemClock,
        ...(how.leaseSeconds !== undefined && { leaseSeconds: how.leaseSeconds }),
        log,
        random: Math.random,
        instance: randomUUID(),
      });
      agents.push(agent);
      return agent;
    },
    create: (name, spec) =>
      client.create<TestSandbox>(SANDBOXES, {
        apiVersion: API_VERSION,
        kind: 'Sandbox',
        metadata: { name, namespace: NAMESPACE },
        spec: { image: 'busybox:lab', ...spec },
      } as TestSandbox),
    get: async ({ metadata }) => {
      try {
        return await client.get<TestSandbox>(SANDBOXES, { namespace: NAMESPACE, name: metadata.name });
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    edit: async (sandbox, change) => {
      await until('a write of the spec', async () => {
        const now = await world.get(sandbox);
        if (now === undefined) throw new Error(`${sandbox.metadata.name} is gone`);
        const next = structuredClone(now);
        change(next.spec);
        return client.update(SANDBOXES, next).catch((error: { code?: number }) => {
          if (error.code === 409) return undefined;
          throw error;
        });
      });
    },
    remove: ({ metadata }) =>
      client.delete(SANDBOXES, { namespace: NAMESPACE, name: metadata.name }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      }),
    removeAll: async () => {
      const all = await client.list<TestSandbox>(SANDBOXES, { namespace: NAMESPACE });
      await Promise.all(all.items.map((sandbox) => world.remove(sandbox)));
    },
    gone: async (sandbox) => {
      await until(
        `the end of ${sandbox.metadata.name}`,
        async () => (await world.get(sandbox)) === undefined,
        { seen: async () => (await world.get(sandbox))?.status },
      );
    },
    awaits: (sandbox, type, status, reason) =>
      world.until(sandbox, `${type}=${status}${reason === undefined ? '' : ` (${reason})`}`, (now) => {
        const found = condition(now, type);
        return found?.status === status && (reason === undefined || found.reason === reason);
      }),
    until: (sandbox, what, test) =>
      until(
        `${what} of ${sandbox.metadata.name}`,
        async () => {
          const now = await world.get(sandbox);
          return now !== undefined && test(now) ? now : undefined;
        },
        { seen: async () => (await world.get(sandbox))?.status },
      ),
    events: async ({ metadata }) => {
      const all = await client.list<
        KubeObject & { involvedObject: { name: string }; reason: string; message: string; count: number }
      >(EVENTS, { namespace: NAMESPACE });
      return all.items.filter((event) => event.involvedObject.name === metadata.name);
    },
    awaitsEvent: async (sandbox, reason) => {
      await until(
        `event ${reason} of ${sandbox.metadata.name}`,
        async () => (await world.events(sandbox)).some((event) => event.reason === reason),
        { seen: () => world.events(sandbox) },
      );
    },
    output: ({ metadata }, launch = 'main') => collect(dataDir, metadata.uid ?? '', launch),
    dataDirs: new Map(),
    outputOn: (sandbox, nodeSelector) =>
      collect(
        world.dataDirs.get(nodeSelector['test/node'] ?? '') ?? dataDir,
        sandbox.metadata.uid ?? '',
        'main',
      ),
    workspace: async ({ metadata }, file) => {
      const volume = `holdfast-ws-${metadata.uid}`;
      if ('socketPath' in options) return fileInVolume(options.socketPath, volume, file);
      const { mountpoint } = (await driver.inspectVolume(volume, {})) ?? {};
      return readFile(join(mountpoint ?? '', file), 'utf8');
    },
    labelNode: async (name) => {
      await until(`node ${name}`, () =>
        client
          .patch(SANDBOX_NODES, { name }, { metadata: { labels: { 'test/node': name } } }, { type: 'merge' })
          .catch((error: unknown) => {
            if (isNotFound(error)) return undefined;
            throw error;
          }),
      );
    },
    nodeSays: async (name, test) => {
      const read = async (): Promise<SandboxNodeStatus | undefined> =>
        (await client.get<SandboxNode>(SANDBOX_NODES, { name })).status;
      await until(
        `word of node ${name}`,
        async () => {
          const status = await read();
          return status !== undefined && test(status);
        },
        { seen: read },
      );
    },
    nodeReady: (name) => world.nodeSays(name, (status) => status.runtimes?.[0]?.ready === true),
    docker: (method, path, body) => {
      if (!('socketPath' in options)) throw new Error('there is no daemon');
      return dockerCall(options.socketPath, method, path, body);
    },
    close: async () => {
      for (const agent of agents) await agent.stop();
      await controller?.stop();
      client.close();
      await api.close();
      for (const one of ownDrivers) one.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  if (options.withAgent !== false) await world.startAgent();
  return world;
}

async function collect(dataDir: string, uid: string, launch: 'setup' | 'main'): Promise<string> {
  let text = '';
  for await (const piece of readOutput({ dataDir, uid, launch })) text += piece.data.toString();
  return text;
}

/** Throws for an answer other than 2xx. */
function dockerCall(socketPath: string, method: string, path: string, body: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, method, path, headers: body === undefined ? {} : { 'content-type': 'application/json' } },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () => {
          const status = answer.statusCode ?? 0;
          if (status < 200 || status >= 300) reject(new Error(`${method} ${path}: ${status} ${text}`));
          else resolve(text === '' ? undefined : JSON.parse(text));
        });
      },
    );
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
