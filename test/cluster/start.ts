import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClusterProcess } from './process.ts';
import { chosenVersion, clusterBinaries, type KubeVersion } from './versions.ts';

export interface ClusterOptions {
  /** Default: what HOLDFAST_KUBE_VERSION says, or the newest. */
  version?: KubeVersion;
  /** false: without kube-controller-manager, so that no namespace ever goes away and nothing is collected. */
  controllerManager?: boolean;
  /** More arguments of kube-apiserver. */
  apiServerArgs?: string[];
}

/** A kube-apiserver with its etcd and controller manager on loopback, in a folder of its own. */
export interface Cluster {
  version: KubeVersion;
  url: string;
  /** Of a member of system:masters. */
  token: string;
  /** Of a user without any rights. */
  nobodyToken: string;
  /** The path of one for `token`. */
  kubeconfig: string;
  /** Of its JSON gateway too. */
  etcdURL: string;
  etcd: ClusterProcess;
  apiServer: ClusterProcess;
  controllerManager: ClusterProcess;
  /** Starts what does not run and resolves when the API server is ready again. */
  up(): Promise<void>;
  /** Throws away etcd's history up to a revision; by default up to now. */
  compact(revision?: number): Promise<void>;
  close(): Promise<void>;
}

const READY_WITHIN_MS = 90_000;

/** Starts one; builds the binaries first where they are not there. Throws NoCluster where they cannot be had. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const version = options.version ?? chosenVersion();
  const bin = await clusterBinaries(version);
  const dir = mkdtempSync(join(tmpdir(), 'cluster-'));
  const [port, etcdPort, peerPort, managerPort] = await freePorts(4);
  const url = `https://127.0.0.1:${port}`;
  const etcdURL = `http://127.0.0.1:${etcdPort}`;
  const tokens = writeCredentials(dir, url);
  const etcd = new ClusterProcess('etcd', {
    bin,
    dir,
    args: etcdArgs(etcdURL, `http://127.0.0.1:${peerPort}`),
  });
  const apiServer = new ClusterProcess('kube-apiserver', {
    bin,
    dir,
    args: [...apiServerArgs(etcdURL, port), ...(options.apiServerArgs ?? [])],
  });
  const manager = new ClusterProcess('kube-controller-manager', { bin, dir, args: managerArgs(managerPort) });
  const processes = [etcd, apiServer, ...(options.controllerManager === false ? [] : [manager])];

  const up = async (): Promise<void> => {
    if (!etcd.running) etcd.start();
    if (!apiServer.running) apiServer.start();
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await ready(url))) {
      const ended = [etcd, apiServer].find(({ running }) => !running);
      if (ended !== undefined) throw new Error(`${ended.name} ended: ${ended.tail()}`);
      if (performance.now() > deadline)
        throw new Error(`the API server was not ready in time: ${apiServer.tail()}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    for (const one of processes) if (!one.running) one.start();
  };
  const close = async (): Promise<void> => {
    await Promise.all(processes.map((one) => one.end()));
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await up();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    version,
    url,
    ...tokens,
    kubeconfig: join(dir, 'kubeconfig'),
    etcdURL,
    etcd,
    apiServer,
    controllerManager: manager,
    up,
    compact: (revision) => compact(etcdURL, revision),
    close,
  };
}

function etcdArgs(client: string, peer: string): string[] {
  return [
    '--data-dir=etcd',
    // It outlives a kill of the process all the same, and the machine of a test is not expected to lose power.
    '--unsafe-no-fsync',
    '--log-level=error',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ];
}

function apiServerArgs(etcd: string, port: number): string[] {
  return [
    `--etcd-servers=${etcd}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    // a loopback address is refused here; nothing connects to it
    '--advertise-address=10.255.255.1',
    '--endpoint-reconciler-type=none',
    '--cert-dir=certs',
    '--service-account-key-file=sa.key',
    '--service-account-signing-key-file=sa.key',
    '--service-account-issuer=https://kubernetes.default.svc',
    '--authorization-mode=Node,RBAC',
    '--token-auth-file=tokens.csv',
    '--service-cluster-ip-range=10.0.0.0/24',
  ];
}

function managerArgs(port: number): string[] {
  return [
    '--kubeconfig=kubeconfig',
    '--authentication-kubeconfig=kubeconfig',
    '--authorization-kubeconfig=kubeconfig',
    '--leader-elect=false',
    '--service-account-private-key-file=sa.key',
    '--use-service-account-credentials=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--cert-dir=cm',
  ];
}

function writeCredentials(dir: string, url: string): { token: string; nobodyToken: string } {
  const token = randomBytes(16).toString('hex');
  const nobodyToken = randomBytes(16).toString('hex');
  const secret = { mode: 0o600 };
  mkdirSync(join(dir, 'certs'));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(dir, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), secret);
  writeFileSync(
    join(dir, 'tokens.csv'),
    `${token},admin,admin,"system:masters"\n${nobodyToken},nobody,nobody,"nobodies"\n`,
    secret,
  );
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(join(dir, 'kubeconfig'), JSON.stringify(kubeconfig), secret);
  return { token, nobodyToken };
}

/** All at once, so that no two are the same. */
async function freePorts(count: 4): Promise<[number, number, number, number]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    ports.push(address.port);
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports as [number, number, number, number];
}

function ready(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const call = request(
      `${url}/readyz`,
      { rejectUnauthorized: false, timeout: 2000, agent: false },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    );
    call.on('error', () => resolve(false));
    call.on('timeout', () => call.destroy());
    call.end();
  });
}

/** Through etcd's JSON gateway. */
async function compact(etcd: string, revision?: number): Promise<void> {
  const post = async (path: string, body: unknown): Promise<unknown> => {
    const answer = await fetch(`${etcd}${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd: POST ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const { header } = (await post('/v3/maintenance/status', {})) as { header: { revision: string } };
  await post('/v3/kv/compaction', { revision: String(revision ?? header.revision), physical: true });
}
