import { beforeAll, describe, expect, it } from 'vitest';
import { useDaemon } from '../lab/daemon.ts';
import { buildImage } from './image.ts';
import { program } from './server.ts';

const IMAGE = 'holdfast:test';

describe('the image on docker-v1', () => {
  const daemon = useDaemon('docker-v1');
  const docker = async (...args: string[]): Promise<string> =>
    (await program('docker', ['--host', `unix://${daemon.current.socketPath}`, ...args])).stdout;
  /** As the manifests run the controller. */
  const run = (...command: string[]): Promise<string> =>
    docker(
      'run',
      '--rm',
      '--read-only',
      '--cap-drop=ALL',
      '--security-opt=no-new-privileges',
      IMAGE,
      ...command,
    );

  beforeAll(async () => buildImage(`unix://${daemon.current.socketPath}`, IMAGE), 150_000);

  it('[K7] is the command, for nobody in particular, and small: what is not Node is under 10 MB', async () => {
    const [user, ...entrypoint] = (
      await docker('inspect', '--format', '{{.Config.User}} {{join .Config.Entrypoint " "}}', IMAGE)
    )
      .trim()
      .split(' ');
    expect([user, entrypoint[0], entrypoint.at(-1)]).toEqual(['65532:65532', 'node', '/app/holdfast.js']);
    const size = async (image: string): Promise<number> =>
      Number(await docker('inspect', '--format', '{{.Size}}', image));
    expect((await size(IMAGE)) - (await size('holdfast-base:test'))).toBeLessThan(10_000_000);
  });

  it('[K7] runs without root, without capabilities and on a read-only root', async () => {
    expect(await run('version')).toMatch(/^holdfast \d/);
    expect(await run('crds')).toContain('kind: CustomResourceDefinition');
  });

  it('[K7] says in one line what is missing where it is started outside of a cluster', async () => {
    await expect(run('controller')).rejects.toThrow(/holdfast: .*\.kube\/config/);
  });

  it('[K7] has the program that runs in sandboxes, of its own architecture', async () => {
    const name = (await docker('create', IMAGE, 'version')).trim();
    try {
      const { stdout } = await program('sh', [
        '-c',
        `docker --host "unix://${daemon.current.socketPath}" cp "${name}:/app/holdfast-init" - | tar -xO | head -c 20 | od -An -tx1`,
      ]);
      // ELF, 64 bit; e_machine 0x3e is x86-64, 0xb7 is AArch64.
      expect(stdout.replaceAll(/\s+/g, ' ').trim()).toMatch(
        process.arch === 'arm64' ? /^7f 45 4c 46 02 .* b7 00$/ : /^7f 45 4c 46 02 .* 3e 00$/,
      );
    } finally {
      await docker('rm', name);
    }
  });
});
