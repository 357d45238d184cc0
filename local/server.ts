import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Transport } from '../kube/transport.ts';
import { AccountTokens } from './auth/account-tokens.ts';
import { bootstrap } from './auth/bootstrap.ts';
import { RBACAuthorizer } from './auth/rbac.ts';
import { Tokens } from './auth/tokens.ts';
import { MASTERS } from './auth/user.ts';
import { type Clock, systemClock } from './clock.ts';
import { type CompactionLimits, Compactor } from './controllers/compactor.ts';
import { ContentCleaner } from './controllers/content-cleaner.ts';
import type { ControllerContext } from './controllers/context.ts';
import { EventExpirer } from './controllers/event-expirer.ts';
import { GarbageCollector } from './controllers/garbage-collector.ts';
import { RoleAggregator } from './controllers/role-aggregator.ts';
import { installDefinitions } from './install-definitions.ts';
import { readHolder, removeHolder, writeHolder } from './lock-info.ts';
import { Registry } from './registry/registry.ts';
import type { CustomResourceDefinition } from './schema/crd-types.ts';
import { Discovery } from './server/discovery.ts';
import { createHandler } from './server/handler.ts';
import { startHTTPS } from './server/https-server.ts';
import { InProcessServer } from './server/in-process.ts';
import { OpenAPI } from './server/openapi.ts';
import { StoreError } from './store/errors.ts';
import { Store } from './store/store.ts';
import { writeKubeconfig } from './tls/kubeconfig.ts';
import { WatchHub } from './watch/hub.ts';

export interface LocalAPIOptions {
  /** Made with mode 0700 when it is not there. One server at a time has it. */
  dataDir: string;
  /** Default 127.0.0.1. Any other address must be asked for. */
  host?: string;
  /** Default 0: a free one. */
  port?: number;
  /** Definitions that are to be there; more can be created through the API. */
  crds: CustomResourceDefinition[];
  log: Logger;
  clock?: Clock;
  /** How much history watches can go back into. */
  compaction?: CompactionLimits;
  /** Bounds the database (4 KiB each); beyond it writes are refused as on a full disk. */
  maxPages?: number;
}

export interface LocalAPI {
  /** `https://HOST:PORT`. */
  url: string;
  /** PEM of the authority that signed the server's certificate. */
  caData: string;
  /** A token of the group system:masters; also in the kubeconfig. */
  adminToken: string;
  kubeconfigPath: string;
  /** A token for a user in groups: the same one whenever the same is asked for. */
  token(user: string, groups: readonly string[]): string;
  /** Forgets the history up to now: watches cannot go back into it any more. */
  compact(): void;
  /** A way to this server for a client in the same process; `headers` are those of each of its requests. */
  transport(headers: Record<string, string>): Transport;
  /** Ends watches and connections, commits what is waiting, and gives the data folder back. */
  close(): Promise<void>;
}

const ADMIN = 'local-admin';
/** Revisions that are forgotten in one commit. */
const COMPACTION_STEP = 500;

/**
 * Starts a control plane of one process on one machine: the Kubernetes API over an SQLite file.
 * Throws StoreError `Locked` when another server has the data folder, and the system's error when the port is taken.
 */
export async function startLocalAPI(options: LocalAPIOptions): Promise<LocalAPI> {
  const { dataDir, log } = options;
  const clock = options.clock ?? systemClock;
  const host = options.host ?? '127.0.0.1';
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const holderPath = join(dataDir, 'server.json');
  const store = openStore(join(dataDir, 'state.db'), {
    clock,
    dataDir,
    holderPath,
    maxPages: options.maxPages,
    log,
  });
  try {
    const tokens = Tokens.open(join(dataDir, 'tokens.json'));
    const accountTokens = new AccountTokens(tokens.keyFor('service accounts'), store, clock);
    tokens.readAccounts(accountTokens);
    await bootstrap(store, clock);
    const registry = new Registry(store, log);
    await installDefinitions(store, registry, { crds: options.crds, clock });
    const hub = new WatchHub(store);
    let serving = true;
    const context = {
      store,
      registry,
      hub,
      discovery: new Discovery(registry),
      openapi: new OpenAPI(registry),
      authorizer: new RBACAuthorizer(store),
      tokens,
      accountTokens,
      clock,
      log,
      ready: () => serving,
    };
    // A handler for each way in, with bounds of its own: who floods the one does not keep out who comes by the other.
    const inProcess = new InProcessServer(createHandler(context));
    const server = await startHTTPS({
      host,
      port: options.port ?? 0,
      dataDir,
      clock,
      log,
      handler: createHandler(context),
    });
    const housekeeping = startHousekeeping({ store, registry, clock, log }, options.compaction);
    const url = `https://${host.includes(':') ? `[${host}]` : host}:${server.port}`;
    writeHolder(holderPath, { pid: process.pid, url });
    const adminToken = tokens.issue(ADMIN, [MASTERS]);
    const kubeconfigPath = join(dataDir, 'kubeconfig');
    const { ca } = server;
    writeKubeconfig(kubeconfigPath, { server: reachable(url), ca, user: ADMIN, token: adminToken });
    log.info({ url, dataDir }, 'local API is serving');
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      serving = false;
      hub.close();
      await Promise.all([server.stop(), inProcess.stop()]);
      await housekeeping.stop();
      removeHolder(holderPath);
      store.close();
    };
    return {
      url: reachable(url),
      caData: ca,
      adminToken,
      kubeconfigPath,
      token: (user, groups) => tokens.issue(user, groups),
      transport: (headers) => inProcess.transport(headers),
      compact: () => {
        while (store.compact(store.rv, COMPACTION_STEP));
      },
      close: () => (closing ??= close()),
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

function openStore(
  path: string,
  context: { clock: Clock; dataDir: string; holderPath: string; maxPages: number | undefined; log: Logger },
): Store {
  try {
    return Store.open(path, {
      clock: context.clock,
      maxPages: context.maxPages,
      onListenerError: (error) => context.log.error({ err: error }, 'what follows a commit has failed'),
    });
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'Locked') throw error;
    throw new StoreError(
      'Locked',
      `the data folder ${context.dataDir} is in use by another server${readHolder(context.holderPath)}: stop that one, or use another folder`,
      { cause: error },
    );
  }
}

/** A server that listens everywhere is reached on loopback from here. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** What works on its own beside the requests. */
function startHousekeeping(
  context: ControllerContext,
  compaction: CompactionLimits | undefined,
): { stop(): Promise<void> } {
  const collector = new GarbageCollector(context);
  const cleaner = new ContentCleaner(context);
  const expirer = new EventExpirer(context.store, context.clock);
  const aggregator = new RoleAggregator(context);
  const compactor = new Compactor(context.store, context.clock, compaction);
  return {
    async stop() {
      compactor.stop();
      await Promise.all([collector.stop(), cleaner.stop(), expirer.stop(), aggregator.stop()]);
    },
  };
}
