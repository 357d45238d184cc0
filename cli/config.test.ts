import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  agentDirIn,
  apiDirIn,
  clusterSource,
  defaultDataDir,
  defaultNodeName,
  dockerCandidates,
  kubeconfigIn,
  localSource,
} from './config.ts';
import { isLoopback } from './start-api.ts';
import { runHoldfast } from './testing.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('where things are', () => {
  it('keeps state where XDG says', () => {
    expect(defaultDataDir({ XDG_STATE_HOME: '/s', HOME: '/h' })).toBe('/s/holdfast');
    expect(defaultDataDir({ HOME: '/h' })).toBe('/h/.local/state/holdfast');
    expect(defaultDataDir({ XDG_STATE_HOME: 'relative', HOME: '/h' })).toBe('/h/.local/state/holdfast');
    expect(defaultDataDir({})).toBe(path.join(os.homedir(), '.local/state/holdfast'));
    expect([kubeconfigIn('/d'), apiDirIn('/d'), agentDirIn('/d')]).toEqual([
      '/d/kubeconfig',
      '/d/api',
      '/d/agent',
    ]);
  });

  it.each([
    ['Laptop.local', 'laptop-local'],
    ['x_1', 'x-1'],
    ['-', 'node'],
    ['', 'node'],
    [`${'a'.repeat(62)}.b`, 'a'.repeat(62)],
  ])('makes of the host name %j the node name %j', (host, name) => {
    expect(defaultNodeName(host)).toBe(name);
  });

  it('finds the API of a cluster: flag, KUBECONFIG, pod, home', () => {
    const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443', HOME: '/h' };
    const named = { ...pod, KUBECONFIG: '/a::/b' };
    expect(clusterSource({ kubeconfig: '/k' }, named)).toEqual({ from: 'files', files: ['/k'] });
    expect(clusterSource({}, named)).toEqual({ from: 'files', files: ['/a', '/b'] });
    expect(clusterSource({}, pod)).toEqual({ from: 'cluster', host: '10.0.0.1', port: '443' });
    expect(clusterSource({}, { HOME: '/h' })).toEqual({ from: 'files', files: ['/h/.kube/config'] });
  });

  it('finds the API of this machine: flag, KUBECONFIG, data folder', () => {
    expect(localSource({ kubeconfig: '/k', dataDir: '/d' }, { KUBECONFIG: '/a' }).from).toBe('files');
    expect(localSource({ dataDir: '/d' }, { KUBECONFIG: '/a' })).toEqual({ from: 'files', files: ['/a'] });
    const pod = { KUBERNETES_SERVICE_HOST: 'h', KUBERNETES_SERVICE_PORT: '1' };
    expect(localSource({ dataDir: '/d' }, pod)).toEqual({ from: 'cluster', host: 'h', port: '1' });
    expect(localSource({ dataDir: '/d' }, { ...pod, KUBECONFIG: '/a' }).from).toBe('files');
    expect(localSource({ dataDir: '/d' }, {})).toEqual({ from: 'files', files: ['/d/kubeconfig'] });
  });

  it.each([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['localhost', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['127.0.0.1.example.org', false],
    ['::', false],
  ])('knows that %s is loopback: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });

  it('looks for Docker where it was told to, and nowhere else; else in the usual places', () => {
    expect(dockerCandidates({ docker: 'tcp://d:1' }, { DOCKER_HOST: 'unix:///x' })).toEqual({
      certain: true,
      addresses: ['tcp://d:1'],
    });
    expect(dockerCandidates({}, { DOCKER_HOST: 'unix:///x' }).addresses).toEqual(['unix:///x']);
    const usual = dockerCandidates({}, { DOCKER_HOST: '', XDG_RUNTIME_DIR: '/run/user/1', HOME: '/h' });
    expect(usual.certain).toBe(false);
    expect(usual.addresses.slice(0, 3)).toEqual([
      'unix:///var/run/docker.sock',
      'unix:///run/user/1/docker.sock',
      'unix:///h/.docker/run/docker.sock',
    ]);
  });
});

describe('wrong values', () => {
  it.each([
    ['--port', 'abc', 'a whole number from 0 (any free port) to 65535'],
    ['--port', '65536', 'a whole number from 0 (any free port) to 65535'],
    ['--port', '-1', 'a whole number from 0 (any free port) to 65535'],
    ['--port', '', 'a whole number from 0 (any free port) to 65535'],
    ['--host', 'a b', 'an IP address or a host name'],
    ['--docker', 'ssh://host', 'unix:///path/of/the/socket or tcp://host:port'],
    ['--docker', 'unix://relative', 'unix:///path/of/the/socket or tcp://host:port'],
    ['--docker', '', 'unix:///path/of/the/socket or tcp://host:port'],
    ['--node-name', 'Upper', '1 to 253 lower-case letters, digits, hyphens and dots'],
    ['--node-name', 'a'.repeat(254), '1 to 253 lower-case letters, digits, hyphens and dots'],
    ['--node-name', 'a..b', '1 to 253 lower-case letters, digits, hyphens and dots'],
    ['--node-name', 'holdfast-controller', 'That name is the lease of the controllers'],
    ['--data-dir', '', 'the path of a folder'],
    ['--init-binary', '', 'the path of a file'],
    ['--log-level', 'loud', 'Allowed choices are trace, debug, info, warn, error, silent.'],
    ['--log-format', 'xml', 'Allowed choices are auto, pretty, json.'],
  ])('%s %j: names the flag, the value and what is accepted', async (flag, value, accepted) => {
    const { code, stdout, stderr } = await runHoldfast(['up', `${flag}=${value}`]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^holdfast: option '/);
    expect(stderr).toContain(flag);
    expect(stderr).toContain(`'${value}' is invalid`);
    expect(stderr).toContain(accepted);
    expect(stderr).not.toContain('    at ');
  });

  it('names the variable that a value came from', async () => {
    vi.stubEnv('HOLDFAST_PORT', 'nine');
    const { code, stderr } = await runHoldfast(['up']);
    expect(code).toBe(2);
    expect(stderr).toContain("value 'nine' from env 'HOLDFAST_PORT' is invalid. Accepted: a whole number");
  });

  it.each([
    [['up', '--nonsense'], "unknown option '--nonsense'"],
    [['upp'], "unknown command 'upp'"],
    [['up', 'extra'], 'too many arguments'],
    [['logs'], "missing required argument 'sandbox'"],
    [['logs', 'a', '--tail', 'x'], 'Accepted: a whole number'],
    [['completion', 'tcsh'], 'Allowed choices are bash, zsh, fish.'],
    [['controller', '--identity', ''], 'Accepted: 1 to 128 letters'],
  ])('%j: is a mistake in the command line', async (args, message) => {
    const { code, stderr } = await runHoldfast(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('says how it is used when nothing was asked', async () => {
    const { code, stdout, stderr } = await runHoldfast([]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Usage: holdfast');
  });
});
