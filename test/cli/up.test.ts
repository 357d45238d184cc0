import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../kube/clock.ts';
import { createDockerDriver } from '../../runtime/drivers/docker/driver.ts';
import { useDaemon } from '../lab/daemon.ts';
import { holdfast, HoldfastProcess, kubectl } from './holdfast-process.ts';

const NODE = 'cli-test';
const IMAGE = 'busybox:lab';

function manifest(name: string, spec: object): string {
  return JSON.stringify({
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'Sandbox',
    metadata: { name, namespace: 'default' },
    spec: { image: IMAGE, imagePullPolicy: 'Never', resources: { memory: '64Mi', pids: 32 }, ...spec },
  });
}

describe('holdfast on docker-v1, embedded', () => {
  const daemon = useDaemon('docker-v1');
  let dir = '';
  let running: HoldfastProcess[] = [];

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'holdfast-up-'));
  });
  afterEach(async () => {
    await Promise.all(running.map((one) => one.end('SIGKILL')));
    running = [];
  });
  afterAll(async () => {
    const driver = docker();
    for (const labels of [{ 'holdfast.dev/node': NODE }]) {
      for (const { id } of await driver.listContainers({ labels })) await driver.removeContainer(id, {});
      for (const { name } of await driver.listVolumes({ labels })) await driver.removeVolume(name, {});
    }
    driver.close();
    await rm(dir, { recursive: true, force: true });
  });

  const address = (): string => `unix://${daemon.current.socketPath}`;
  const docker = () =>
    createDockerDriver({ url: address(), log: pino({ level: 'silent' }), clock: systemClock });

  function start(args: string[]): HoldfastProcess {
    const one = new HoldfastProcess(args);
    running.push(one);
    return one;
  }

  async function up(dataDir: string, ...more: string[]): Promise<HoldfastProcess> {
    const one = start(['up', '--data-dir', dataDir, '--docker', address(), '--node-name', NODE, ...more]);
    await one.says('is up on this machine');
    return one;
  }

  async function sandboxContainers(): Promise<{ id: string; state: string }[]> {
    const driver = docker();
    const labels = { 'holdfast.dev/node': NODE, 'holdfast.dev/role': 'sandbox' };
    const found = await driver.listContainers({ labels });
    driver.close();
    return found.map(({ id, state }) => ({ id, state }));
  }

  it('[K1] says what it found and how to use it; the kubeconfig is its owner’s alone', async () => {
    const dataDir = join(dir, 'one');
    const one = await up(dataDir);
    expect(one.stdout).toContain(`node     ${NODE}: Docker `);
    expect(one.stdout).toContain(address());
    expect(one.stdout).toContain(`export KUBECONFIG=${dataDir}/kubeconfig`);
    const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
    expect(await modeOf(join(dataDir, 'kubeconfig'))).toBe(0o600);
    expect(await modeOf(dataDir)).toBe(0o700);
    expect(await modeOf(join(dataDir, 'api'))).toBe(0o700);
    expect(await modeOf(join(dataDir, 'agent'))).toBe(0o700);
    expect(await kubectl(join(dataDir, 'kubeconfig'), ['get', 'hsn', '-o', 'name'])).toBe(
      `sandboxnode.holdfast.dev/${NODE}\n`,
    );
    expect((await one.end('SIGINT')).code).toBe(0);
  });

  it('[K1] kubectl apply, wait, and holdfast logs of both streams and of setup', async () => {
    const dataDir = join(dir, 'two');
    const one = await up(dataDir);
    const kubeconfig = join(dataDir, 'kubeconfig');
    await kubectl(
      kubeconfig,
      ['apply', '-f', '-'],
      manifest('job', {
        setup: { command: ['sh', '-c', 'echo prepared'] },
        command: ['sh', '-c', 'echo one; echo two; echo bad >&2'],
      }),
    );
    await kubectl(kubeconfig, ['wait', '--for=condition=Complete', 'sandbox/job', '--timeout=60s']);
    const logs = async (...args: string[]) => await holdfast(['logs', 'job', '--data-dir', dataDir, ...args]);
    expect(await logs()).toEqual({ code: 0, stdout: 'one\ntwo\n', stderr: 'bad\n' });
    expect(await logs('--stderr')).toEqual({ code: 0, stdout: '', stderr: 'bad\n' });
    expect(await logs('--stdout', '--tail', '1')).toEqual({ code: 0, stdout: 'two\n', stderr: '' });
    expect((await logs('--setup')).stdout).toBe('prepared\n');
    expect((await logs('--follow')).stdout).toBe('one\ntwo\n');
    expect((await logs('--stdout', '--timestamps')).stdout).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z one\n\d{4}-\d\d-\d\dT[\d:.]+Z two\n$/,
    );
    const early = start(['logs', 'late', '--data-dir', dataDir, '--follow']);
    expect((await early.ended()).stderr).toContain('there is no sandbox "late"');
    await kubectl(
      kubeconfig,
      ['apply', '-f', '-'],
      manifest('late', { command: ['sh', '-c', 'echo begun; exec sleep 1000'] }),
    );
    const followers = [
      start(['logs', 'late', '--data-dir', dataDir, '--follow']),
      start(['logs', 'late', '--data-dir', dataDir, '--follow', '--tail', '5']),
    ];
    for (const one of followers) await one.says('begun\n');
    expect(await followers[0]?.end('SIGINT')).toMatchObject({ code: 0, stdout: 'begun\n' });
    await kubectl(kubeconfig, ['delete', 'sandbox', 'late', '--timeout=60s']);
    expect(await followers[1]?.ended()).toMatchObject({ code: 0, stdout: 'begun\n' });

    const byKubeconfig = await holdfast(['logs', 'job'], { KUBECONFIG: kubeconfig });
    expect(byKubeconfig.stdout).toBe('one\ntwo\n');
    const missing = await logs('-n', 'elsewhere');
    expect(missing).toMatchObject({
      code: 1,
      stderr: 'holdfast: there is no sandbox "job" in the namespace "elsewhere"\n',
    });
    await one.end();
  });

  it('[K10] leaves sandboxes running for the next start, which finds them as they are; at the same address', async () => {
    const dataDir = join(dir, 'three');
    const first = await up(dataDir);
    const kubeconfig = join(dataDir, 'kubeconfig');
    await kubectl(kubeconfig, ['apply', '-f', '-'], manifest('kept', {}));
    await kubectl(kubeconfig, ['wait', '--for=condition=Ready', 'sandbox/kept', '--timeout=60s']);
    const server = await kubectl(kubeconfig, [
      'config',
      'view',
      '-o',
      'jsonpath={.clusters[0].cluster.server}',
    ]);
    expect((await first.end()).code).toBe(0);
    const before = await sandboxContainers();
    expect(before).toMatchObject([{ state: 'running' }]);

    const second = await up(dataDir, '--end-sandboxes');
    expect(
      await kubectl(kubeconfig, ['config', 'view', '-o', 'jsonpath={.clusters[0].cluster.server}']),
    ).toBe(server);
    await kubectl(kubeconfig, ['wait', '--for=condition=Ready', 'sandbox/kept', '--timeout=60s']);
    expect(await sandboxContainers()).toEqual(before);
    expect(second.stdout).toContain('Ctrl-C stops it and ends the sandboxes.');
    expect((await second.end('SIGINT')).code).toBe(0);
    expect((await sandboxContainers()).filter(({ state }) => state === 'running')).toEqual([]);
  });

  it('a second one on the same data is told who has it, and changes nothing', async () => {
    const dataDir = join(dir, 'four');
    const one = await up(dataDir);
    const other = await holdfast(['up', '--data-dir', dataDir, '--docker', address(), '--node-name', NODE]);
    expect(other.code).toBe(1);
    expect(other.stdout).toBe('');
    expect(other.stderr.trimEnd().split('\n').at(-1)).toMatch(/^holdfast: .*four.*/);
    expect(other.stderr).toContain(String(one.pid));
    expect(other.stderr).not.toContain('    at ');
    expect(await kubectl(join(dataDir, 'kubeconfig'), ['get', '--raw', '/readyz'])).toBe('ok');
    await one.end();
  });

  it('a second Ctrl-C ends it at once, and the next start finds everything', async () => {
    const dataDir = join(dir, 'five');
    const one = await up(dataDir);
    one.signal('SIGINT', 'SIGTERM');
    expect((await one.ended()).code).toBe(130);
    await (await up(dataDir)).end();
  });

  it('without a Docker daemon it is up all the same and says what to do', async () => {
    const dataDir = join(dir, 'six');
    const missing = join(dir, 'no.sock');
    const one = start(['up', '--data-dir', dataDir, '--docker', missing, '--node-name', NODE]);
    await one.says('is up on this machine');
    expect(one.stdout).toContain(`${NODE} is not ready: no Docker daemon answers:`);
    expect(one.stdout).toContain(missing);
    expect(one.stdout).toContain('Start Docker, or say where it is with --docker or DOCKER_HOST');
    expect((await one.end()).code).toBe(0);
  });

  it.each([
    [
      'a port that is taken',
      async () => {
        const other = await up(join(dir, 'eight'));
        const port = /:(\d+)"/.exec(
          await kubectl(join(dir, 'eight', 'kubeconfig'), ['config', 'view', '-o', 'json']),
        )?.[1];
        const args = ['api', '--data-dir', join(dir, 'nine'), '--port', port ?? ''];
        const ended = await holdfast(args);
        await other.end();
        return ended;
      },
      /^holdfast: 127\.0\.0\.1:\d+ is taken by another program: choose another with --port\n$/,
    ],
    [
      'a file where the data folder should be',
      async () => {
        await writeFile(join(dir, 'file'), '');
        return await holdfast(['api', '--data-dir', join(dir, 'file')]);
      },
      /^holdfast: .*\/file: is in the way \(not a folder\)\n$/,
    ],
    [
      'a missing init program',
      () => holdfast(['up', '--data-dir', join(dir, 'ten'), '--init-binary', join(dir, 'none')]),
      /^holdfast: --init-binary: there is no file .*none\n$/,
    ],
    [
      'an API that is not there',
      () => holdfast(['controller', '--kubeconfig', join(dir, 'none')]),
      /^holdfast: .*none: cannot be read \(ENOENT\)\n$/,
    ],
  ])('%s: one line that says so, exit code 1, no stack trace', async (_, run, message) => {
    const { code, stdout, stderr } = await run();
    expect([code, stdout]).toEqual([1, '']);
    const said = stderr
      .split('\n')
      .filter((line) => !line.startsWith('{'))
      .join('\n');
    expect(said).toMatch(message);
    expect(stderr).not.toContain('    at ');
  });
});
