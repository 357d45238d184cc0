import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A kube-apiserver with its etcd and controller manager on loopback, in a folder of its own. */
export interface Cluster {
  url: string;
  /** Of a member of system:masters. */
  token: string;
  /** Of a user without any rights. */
  nobodyToken: string;
  close(): Promise<void>;
}

function binaries(): string {
  const build = join(import.meta.dirname, 'build');
  return execFileSync(build, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function ready(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const call = request(`${url}/readyz`, { rejectUnauthorized: false, timeout: 2000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    call.on('error', () => resolve(false));
    call.on('timeout', () => call.destroy());
    call.end();
  });
}

/** Starts one; builds the binaries first where they are not there (see `build`). */
export async function startCluster(): Promise<Cluster> {
  const bin = binaries();
  const dir = mkdtempSync(join(tmpdir(), 'cluster-'));
  const [port, etcd, peer, manager] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const token = randomBytes(16).toString('hex');
  const nobodyToken = randomBytes(16).toString('hex');
  const url = `https://127.0.0.1:${port}`;
  mkdirSync(join(dir, 'certs'));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const secret = { mode: 0o600 };
  writeFileSync(join(dir, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), secret);
  writeFileSync(
    join(dir, 'tokens.csv'),
    `${token},admin,admin,"system:masters"\n${nobodyToken},nobody,nobody,"nobodies"\n`,
    secret,
  );
  writeFileSync(join(dir, 'kubeconfig'), kubeconfig(url, token), secret);
  const processes: ChildProcess[] = [];
  const start = (name: string, args: string[]): void => {
    const log = openSync(join(dir, `${name}.log`), 'w');
    processes.push(spawn(join(bin, name), args, { cwd: dir, stdio: ['ignore', log, log] }));
  };
  const close = async (): Promise<void> => {
    await Promise.all(processes.map(end));
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    start('etcd', [
      '--data-dir=etcd',
      '--unsafe-no-fsync',
      '--log-level=error',
      `--listen-client-urls=http://127.0.0.1:${etcd}`,
      `--advertise-client-urls=http://127.0.0.1:${etcd}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
    ]);
    start('kube-apiserver', [
      `--etcd-servers=http://127.0.0.1:${etcd}`,
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
    ]);
    const deadline = Date.now() + 90_000;
    while (!(await ready(url))) {
      if (processes.some((child) => child.exitCode !== null) || Date.now() > deadline)
        throw new Error(`the API server did not start: ${tail(join(dir, 'kube-apiserver.log'))}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    start('kube-controller-manager', [
      '--kubeconfig=kubeconfig',
      '--authentication-kubeconfig=kubeconfig',
      '--authorization-kubeconfig=kubeconfig',
      '--leader-elect=false',
      '--service-account-private-key-file=sa.key',
      '--use-service-account-credentials=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${manager}`,
      '--cert-dir=cm',
    ]);
    return { url, token, nobodyToken, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function tail(file: string): string {
  return readFileSync(file, 'utf8').split('\n').slice(-5).join('\n');
}

/** Without its etcd an API server takes a minute to end by itself: it is given two seconds. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 2000);
  await gone;
  clearTimeout(timer);
}

function kubeconfig(url: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}
