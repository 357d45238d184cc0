import os from 'node:os';
import path from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { parseCPU, parseMemory } from '../crds/quantity.ts';
import { daemonAddress } from '../runtime/drivers/docker/address.ts';
import type { HealthAddress } from './health.ts';

/**
 * Every flag, every environment variable and every default of the command, once. Nothing else reads the environment.
 */

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];
const LOG_FORMATS = ['auto', 'pretty', 'json'] as const;
type LogFormat = (typeof LOG_FORMATS)[number];

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LogConfig {
  logLevel: LogLevel;
  logFormat: LogFormat;
}

export const options = {
  dataDir: (env: Environment) =>
    new Option('--data-dir <folder>', 'where Holdfast keeps its state on this machine')
      .env('HOLDFAST_DATA_DIR')
      .argParser(folder)
      .default(defaultDataDir(env), '$XDG_STATE_HOME/holdfast'),
  host: () =>
    new Option('--host <address>', 'address the API listens on; anything but loopback opens it to others')
      .env('HOLDFAST_HOST')
      .argParser(address)
      .default('127.0.0.1'),
  port: () =>
    new Option('--port <number>', 'port the API listens on (default: that of the last time, else a free one)')
      .env('HOLDFAST_PORT')
      .argParser(port),
  docker: () =>
    new Option(
      '--docker <address>',
      'the Docker daemon, as unix:///path or tcp://host:port (default: $DOCKER_HOST, else the first of the usual sockets that answers)',
    )
      .env('HOLDFAST_DOCKER')
      .argParser(docker),
  nodeName: () =>
    new Option('--node-name <name>', 'name of this machine as a SandboxNode')
      .env('HOLDFAST_NODE_NAME')
      .argParser(nodeName)
      .default(defaultNodeName(os.hostname()), "the host's name"),
  initBinary: () =>
    new Option(
      '--init-binary <file>',
      'the holdfast-init program (default: the one that came with this command)',
    )
      .env('HOLDFAST_INIT_BINARY')
      .argParser(file),
  endSandboxes: () =>
    new Option(
      '--end-sandboxes',
      'on exit, end the sandboxes of this machine too; they go on running otherwise',
    ),
  kubeconfig: () =>
    new Option(
      '--kubeconfig <file>',
      'how to reach the API (default: $KUBECONFIG, else the pod’s service account, else ~/.kube/config)',
    ).argParser(file),
  localKubeconfig: () =>
    new Option(
      '--kubeconfig <file>',
      'how to reach the API (default: $KUBECONFIG, else the pod’s service account, else the one in the data folder)',
    ).argParser(file),
  context: () => new Option('--context <name>', 'context of the kubeconfig (default: its current one)'),
  leaderElection: () => new Option('--no-leader-election', 'for a controller that is certainly the only one'),
  identity: () =>
    new Option(
      '--identity <name>',
      'which of several controllers this is; unique (default: host name and process)',
    )
      .env('HOLDFAST_IDENTITY')
      .argParser(identity)
      .default(`${os.hostname()}-${process.pid}`, 'host name and process'),
  healthAddress: () =>
    new Option(
      '--health-address <[host:]port>',
      'serve /livez and /readyz there; a port alone is on loopback (default: not served)',
    )
      .env('HOLDFAST_HEALTH_ADDRESS')
      .argParser(healthAddress),
  reserveCPU: () =>
    new Option('--reserve-cpu <cpu>', 'spec.reserved.cpu of the SandboxNode, where this agent makes it')
      .env('HOLDFAST_RESERVE_CPU')
      .argParser(cpu),
  reserveMemory: () =>
    new Option(
      '--reserve-memory <memory>',
      'spec.reserved.memory of the SandboxNode, where this agent makes it',
    )
      .env('HOLDFAST_RESERVE_MEMORY')
      .argParser(memory),
  reserveForKubelet: () =>
    new Option(
      '--reserve-for-kubelet',
      'where this agent makes the SandboxNode: reserve all that the kubelet of the node may give to pods',
    ).env('HOLDFAST_RESERVE_FOR_KUBELET'),
  logLevel: () =>
    new Option('--log-level <level>', 'what is logged, on standard error')
      .env('HOLDFAST_LOG_LEVEL')
      .choices(LOG_LEVELS)
      .default('info'),
  logFormat: () =>
    new Option('--log-format <format>', 'auto: pretty on a terminal, else json')
      .env('HOLDFAST_LOG_FORMAT')
      .choices(LOG_FORMATS)
      .default('auto'),
};

export interface ServeConfig extends LogConfig {
  dataDir: string;
  host: string;
  port?: number;
}

export interface NodeConfig {
  dataDir: string;
  docker?: string;
  nodeName: string;
  initBinary?: string;
  endSandboxes?: boolean;
  reserveCpu?: string;
  reserveMemory?: string;
  reserveForKubelet?: boolean;
}

export interface ClusterConfig {
  kubeconfig?: string;
  context?: string;
}

interface HealthConfig {
  healthAddress?: HealthAddress;
}

export type UpConfig = ServeConfig & NodeConfig;
export type AgentConfig = NodeConfig & ClusterConfig & LogConfig & HealthConfig;
export type ControllerConfig = ClusterConfig &
  LogConfig &
  HealthConfig & { leaderElection: boolean; identity: string };

/** Where an API server may be found, in the order to try. */
export type APISource = { from: 'files'; files: string[] } | { from: 'cluster'; host: string; port: string };

export function clusterSource(config: ClusterConfig, env: Environment): APISource {
  const files = namedKubeconfigs(config, env);
  if (files) return { from: 'files', files };
  return podSource(env) ?? { from: 'files', files: [path.join(home(env), '.kube', 'config')] };
}

function podSource(env: Environment): APISource | undefined {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  return host && port ? { from: 'cluster', host, port } : undefined;
}

/** For commands about this machine: in a pod of an agent by its service account, else the data folder's kubeconfig. */
export function localSource(config: ClusterConfig & { dataDir: string }, env: Environment): APISource {
  const files = namedKubeconfigs(config, env);
  if (files) return { from: 'files', files };
  return podSource(env) ?? { from: 'files', files: [kubeconfigIn(config.dataDir)] };
}

function namedKubeconfigs(config: ClusterConfig, env: Environment): string[] | undefined {
  if (config.kubeconfig !== undefined) return [config.kubeconfig];
  const named = (env['KUBECONFIG'] ?? '').split(path.delimiter).filter((part) => part !== '');
  return named.length > 0 ? named : undefined;
}

/** Where a Docker daemon may listen. `certain`: somebody said so, and nowhere else is to be looked. */
export function dockerCandidates(
  config: { docker?: string },
  env: Environment,
): { certain: boolean; addresses: string[] } {
  const named = config.docker ?? (env['DOCKER_HOST'] || undefined);
  if (named !== undefined) return { certain: true, addresses: [named] };
  const runtimeDir = env['XDG_RUNTIME_DIR'];
  const sockets = [
    '/var/run/docker.sock',
    ...(runtimeDir ? [path.join(runtimeDir, 'docker.sock')] : []),
    ...[
      '.docker/run/docker.sock',
      '.docker/desktop/docker.sock',
      '.colima/default/docker.sock',
      '.orbstack/run/docker.sock',
      '.rd/docker.sock',
    ].map((socket) => path.join(home(env), socket)),
  ];
  return { certain: false, addresses: sockets.map((socket) => `unix://${socket}`) };
}

export function kubeconfigIn(dataDir: string): string {
  return path.join(dataDir, 'kubeconfig');
}

/** Of the API server: its store, certificates and tokens. */
export function apiDirIn(dataDir: string): string {
  return path.join(dataDir, 'api');
}

/** Of the node agent: its ledger and the output of sandboxes. */
export function agentDirIn(dataDir: string): string {
  return path.join(dataDir, 'agent');
}

export function defaultDataDir(env: Environment): string {
  const state = env['XDG_STATE_HOME'];
  // The specification has it that a relative path here is to be ignored.
  const base = state && path.isAbsolute(state) ? state : path.join(home(env), '.local', 'state');
  return path.join(base, 'holdfast');
}

/** A host's name as the name of an object. */
export function defaultNodeName(hostname: string): string {
  const name = hostname
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '');
  return name === '' ? 'node' : name;
}

function home(env: Environment): string {
  return env['HOME'] || os.homedir();
}

function folder(value: string): string {
  if (value === '') throw new InvalidArgumentError('Accepted: the path of a folder.');
  return path.resolve(value);
}

function file(value: string): string {
  if (value === '') throw new InvalidArgumentError('Accepted: the path of a file.');
  return path.resolve(value);
}

function port(value: string): number {
  const number = Number(value);
  if (!/^\d{1,5}$/.test(value) || number > 65535) {
    throw new InvalidArgumentError('Accepted: a whole number from 0 (any free port) to 65535.');
  }
  return number;
}

function address(value: string): string {
  if (!/^[A-Za-z0-9.:_-]+$/.test(value)) {
    throw new InvalidArgumentError('Accepted: an IP address or a host name, such as 127.0.0.1.');
  }
  return value;
}

function docker(value: string): string {
  try {
    return daemonAddress(value.startsWith('/') ? { socketPath: value } : { url: value }).text;
  } catch {
    throw new InvalidArgumentError('Accepted: unix:///path/of/the/socket or tcp://host:port.');
  }
}

/** As nodes of Kubernetes are named: in clouds often by a domain name. */
function nodeName(value: string): string {
  const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
  if (value.length > 253 || !new RegExp(`^${label}(\\.${label})*$`).test(value)) {
    throw new InvalidArgumentError(
      'Accepted: 1 to 253 lower-case letters, digits, hyphens and dots, a letter or digit at either end of each part.',
    );
  }
  if (value === 'holdfast-controller') {
    throw new InvalidArgumentError('That name is the lease of the controllers: give the node another.');
  }
  return value;
}

/** `[::1]:8081`, `host:8081`, `*:8081`, `8081`. */
function healthAddress(value: string): HealthAddress {
  const found = /^(?:(?<host>\*|\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):)?(?<port>\d{1,5})$/.exec(value)?.groups;
  const number = Number(found?.['port']);
  if (found === undefined || number > 65535) {
    throw new InvalidArgumentError(
      'Accepted: a port from 0 (any free one) to 65535; with an address before it (10.0.0.1:8081, *:8081 for all) for others than loopback.',
    );
  }
  return { host: (found['host'] ?? '127.0.0.1').replaceAll(/[[\]]/g, ''), port: number };
}

function cpu(value: string): string {
  const parsed = parseCPU(value);
  if (!parsed.ok) throw new InvalidArgumentError(`Accepted: ${parsed.accepted}.`);
  return value;
}

function memory(value: string): string {
  const parsed = parseMemory(value);
  if (!parsed.ok) throw new InvalidArgumentError(`Accepted: ${parsed.accepted}.`);
  return value;
}

function identity(value: string): string {
  if (!/^[A-Za-z0-9]([-._A-Za-z0-9]{0,126}[A-Za-z0-9])?$/.test(value)) {
    throw new InvalidArgumentError('Accepted: 1 to 128 letters, digits, dots, hyphens and underscores.');
  }
  return value;
}
