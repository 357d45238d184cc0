import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../kube/clock.ts';
import type { ContainerSpec } from '../../runtime/driver.ts';
import { createDockerDriver, type DockerDriver } from '../../runtime/drivers/docker/driver.ts';
import { selectedConfigs, useDaemon } from '../lab/daemon.ts';

/** What a container of ours is from the inside, on a real daemon: the settings are sent, and these are what they do. */

const LABELS = { 'holdfast.dev/settings-suite': 'yes' };
const MIB = 1048576;
let made = 0;

function script(text: string, changes: Partial<ContainerSpec> = {}): ContainerSpec {
  made += 1;
  return {
    name: `hf-settings-${process.pid}-${made}`,
    image: 'busybox:lab',
    labels: LABELS,
    entrypoint: ['/bin/busybox', 'sh', '-c'],
    command: [text],
    env: ['A=b'],
    workingDir: '/tmp',
    user: '',
    limits: {},
    mounts: [],
    readOnlyRootFilesystem: false,
    capabilities: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETUID', 'SETGID', 'KILL'],
    networkDisabled: true,
    ...changes,
  };
}

describe.each(selectedConfigs(['docker-v1', 'docker-v2']))('a container on %s', (config) => {
  const daemon = useDaemon(config);
  let driver: DockerDriver;
  /** docker-v1 is whatever the host is. */
  let v1: boolean;

  const clean = async (): Promise<void> => {
    for (const { id } of await driver.listContainers({ labels: LABELS }))
      await driver.removeContainer(id, {});
    for (const { name } of await driver.listVolumes({ labels: LABELS })) await driver.removeVolume(name, {});
  };
  beforeAll(async () => {
    const { socketPath } = daemon.current;
    driver = createDockerDriver({ socketPath, clock: systemClock, log: pino({ level: 'silent' }) });
    v1 = (await driver.info({})).cgroupVersion === '1';
    await clean();
  });
  afterAll(async () => {
    await clean();
    driver.close();
  });

  /** Runs it to its end; what it wrote, stderr after stdout. */
  const run = async (spec: ContainerSpec, stdin?: string): Promise<{ out: string; code: number }> => {
    const { id } = await driver.createContainer(spec, {});
    const errors: Buffer[] = [];
    const stream = await driver.attachContainer(id, { onStderr: (chunk) => void errors.push(chunk) });
    await driver.startContainer(id, {});
    if (stdin !== undefined) stream.end(stdin);
    const out: Buffer[] = [];
    for await (const chunk of stream) out.push(chunk as Buffer);
    const code = await driver.waitContainer(id, {});
    return { out: Buffer.concat([...out, ...errors]).toString(), code };
  };

  it('has the capabilities asked for and no others, cannot gain any, and is under seccomp', async () => {
    const { out } = await run(script('grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status'));
    const status = Object.fromEntries(out.split('\n').map((line) => line.split(/:\s+/)));
    // CHOWN 0, DAC_OVERRIDE 1, FOWNER 3, FSETID 4, KILL 5, SETGID 6, SETUID 7.
    expect(BigInt(`0x${status['CapBnd']}`)).toBe(0b1111_1011n);
    expect(BigInt(`0x${status['CapEff']}`)).toBe(0b1111_1011n);
    expect(status).toMatchObject({ NoNewPrivs: '1', Seccomp: '2' });
  });

  it('[K9] has no network but loopback', async () => {
    const { out } = await run(script('ls /sys/class/net; cat /proc/net/route | tail -n +2'));
    expect(out.trim()).toBe('lo');
  });

  it('has its own processes, and the environment, folder and user it was given', async () => {
    const { out } = await run(script('echo $$ $A $PWD; id -u; id -g', { user: '65534:65534' }));
    expect(out.split(/\s+/).slice(0, 5)).toEqual(['1', 'b', '/tmp', '65534', '65534']);
  });

  it('has the ulimits, shared memory and OOM score that are sent', async () => {
    const { out } = await run(
      script('ulimit -n; ulimit -Hn; ulimit -c; df -k /dev/shm | tail -1; cat /proc/self/oom_score_adj'),
    );
    const [soft, hard, core, shm, score] = out.trim().split('\n');
    expect([soft, hard, core, score]).toEqual(['1024', '16384', '0', '0']);
    expect(shm).toMatch(/\s65536\s/);
  });

  it('with a read-only root writes nowhere but to its volume', async () => {
    const volume = `hf-settings-${process.pid}-${made}`;
    await driver.createVolume(volume, { labels: LABELS });
    const { out, code } = await run(
      script('touch /x; touch /bin/x; touch /workspace/x && echo written', {
        readOnlyRootFilesystem: true,
        mounts: [{ type: 'volume', source: volume, target: '/workspace', readOnly: false }],
      }),
    );
    expect(code).toBe(0);
    expect(out.match(/Read-only file system/g)).toHaveLength(2);
    expect(out).toContain('written');
  });

  it('[L1] [L5] has the limits in its own cgroup', async () => {
    const limits = {
      memoryBytes: 64 * MIB,
      memorySwapBytes: 64 * MIB,
      cpuQuotaMicros: 50_000,
      cpuPeriodMicros: 100_000,
      pids: 17,
    };
    const files = v1
      ? [
          'memory/memory.limit_in_bytes',
          'memory/memory.memsw.limit_in_bytes',
          'cpu/cpu.cfs_quota_us',
          'cpu/cpu.cfs_period_us',
          'pids/pids.max',
        ]
      : ['memory.max', 'memory.swap.max', 'cpu.max', 'pids.max'];
    const { out } = await run(
      script(`cd /sys/fs/cgroup; for f in ${files.join(' ')}; do cat $f; done`, { limits }),
    );
    expect(out.trim().split(/\s+/)).toEqual(
      v1 ? ['67108864', '67108864', '50000', '100000', '17'] : ['67108864', '0', '50000', '100000', '17'],
    );
  });

  it('[K11] a memory limit taken away is none for the kernel too', async () => {
    const limits = { memoryBytes: 64 * MIB, memorySwapBytes: 64 * MIB };
    const file = v1 ? 'memory/memory.limit_in_bytes' : 'memory.max';
    const { id } = await driver.createContainer(script('sleep 600', { limits }), {});
    await driver.startContainer(id, {});
    const path = `/proc/${(await driver.inspectContainer(id, {}))?.pid}/root/sys/fs/cgroup/${file}`;
    expect((await daemon.current.exec(`cat ${path}`)).trim()).toBe(String(64 * MIB));
    await driver.updateLimits(id, {}, {});
    const after = (await daemon.current.exec(`cat ${path}`)).trim();
    expect(after === 'max' || BigInt(after) >= 2n ** 62n).toBe(true);
    await driver.removeContainer(id, {});
  });

  it('[O4] that the limit kills has the flag or not, and 137', async () => {
    const limits = { memoryBytes: 32 * MIB, memorySwapBytes: 32 * MIB };
    const { out, code } = await run(script('exec dd if=/dev/zero of=/dev/null bs=128M count=1', { limits }));
    expect([out, code]).toEqual(['', 137]);
  });

  it('cannot fill a volume that it only reads, but finds what the probe has put there', async () => {
    const volume = `hf-settings-${process.pid}-${made}`;
    await driver.createVolume(volume, { labels: LABELS });
    const mount = { type: 'volume' as const, source: volume, target: '/bin', readOnly: true };
    // Its image has a full /bin; a volume there stays empty, so nothing can be run.
    const { id } = await driver.createContainer(script('true', { mounts: [mount] }), {});
    await expect(driver.startContainer(id, {})).rejects.toMatchObject({ code: 'StartFailed' });
    await driver.removeContainer(id, {});

    const probe = await run(script('true', { mounts: [mount], probe: true, capabilities: ['KILL'] }), '');
    expect(probe.code).toBe(0);
    const { code } = await run(script('true', { mounts: [mount] }));
    expect(code).toBe(0);
  });

  describe('as the probe', () => {
    const probe = (text: string): ContainerSpec => script(text, { probe: true, capabilities: ['KILL'] });

    it("sees the host's processes and cgroups, and makes and removes cgroups", async () => {
      const root = v1 ? '/sys/fs/cgroup/pids' : '/sys/fs/cgroup';
      const line = v1 ? ':pids:' : '^0::';
      const { id } = await driver.createContainer(script('sleep 600'), {});
      await driver.startContainer(id, {});
      const pid = (await driver.inspectContainer(id, {}))?.pid ?? 0;
      const { out, code } = await run(
        probe(
          `p=$(grep ${line} /proc/${pid}/cgroup | cut -d: -f3); echo $p; mkdir ${root}$p/hf.x && rmdir ${root}$p/hf.x && echo made`,
        ),
        '',
      );
      expect([out, code]).toEqual([expect.stringContaining(id), 0]);
      expect(out).toContain('made');
      await driver.removeContainer(id, {});
    });

    it('ends when whoever held its stdin goes away', async () => {
      const { id } = await driver.createContainer(probe('cat > /dev/null; exit 5'), {});
      const stream = await driver.attachContainer(id, { onStderr: () => {} });
      await driver.startContainer(id, {});
      stream.destroy();
      expect(await driver.waitContainer(id, {})).toBe(5);
    });

    it('may have limits of its own', async () => {
      const { id } = await driver.createContainer(
        { ...probe('cat'), limits: { pids: 10, memoryBytes: 64 * MIB } },
        {},
      );
      expect((await driver.inspectContainer(id, {}))?.limits).toMatchObject({ pids: 10 });
      await driver.removeContainer(id, {});
    });
  });
});
