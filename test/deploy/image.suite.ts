import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { useDaemon } from '../lab/daemon.ts';
import { buildImage } from './image.ts';
import { program } from './server.ts';

const IMAGE = 'holdfast:test';
const CONTEXT = join(import.meta.dirname, '../../.cache/image');

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

  it('[K7] has the program that runs in sandboxes; its context has it for both architectures', async () => {
    // e_machine of ELF
    for (const [architecture, machine] of [
      ['amd64', 0x3e],
      ['arm64', 0xb7],
    ] as const) {
      const file = await readFile(join(CONTEXT, 'init', architecture, 'holdfast-init'));
      expect([file.subarray(1, 4).toString(), file.readUInt16LE(18)]).toEqual(['ELF', machine]);
    }
    const own = process.arch === 'x64' ? 'amd64' : process.arch;
    const script = `const { readFileSync } = require('node:fs');
      process.stdout.write(require('node:crypto').hash('sha256', readFileSync('/app/holdfast-init')))`;
    const inside = await docker('run', '--rm', '--entrypoint', 'node', IMAGE, '-e', script);
    expect(inside).toBe(hash('sha256', await readFile(join(CONTEXT, 'init', own, 'holdfast-init'))));
  });
});
