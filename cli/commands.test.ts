import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { crdManifests } from '../crds/crd-manifests.ts';
import { findInitBinary } from './init-binary.ts';
import { explain, Failure } from './failure.ts';
import { generatedFiles } from './generated-files.ts';
import { writePrivateFile } from './private-file.ts';
import { stopOnSignals } from './signals.ts';
import { runHoldfast } from './testing.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'holdfast-cli-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true });
});

const COMMANDS = ['up', 'controller', 'agent', 'api', 'logs', 'crds', 'completion', 'version'];

describe('help', () => {
  it.each(COMMANDS)('%s --help has examples, on standard output, and is no failure', async (name) => {
    const { code, stdout, stderr } = await runHoldfast([name, '--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Usage: holdfast ${name}`);
    expect(stdout).toContain('Examples:');
    expect((await runHoldfast(['help', name])).stdout).toBe(stdout);
  });

  it('lists every command and the exit codes', async () => {
    const { stdout } = await runHoldfast(['--help']);
    for (const name of COMMANDS) expect(stdout).toContain(`\n  ${name}`);
    expect(stdout).toContain('Exit codes:');
  });

  it('docs/cli.md says what --help says', async () => {
    for (const { path: file, content } of await generatedFiles()) {
      expect(await readFile(path.join(import.meta.dirname, '..', file), 'utf8')).toBe(content);
    }
  });
});

describe('version', () => {
  it('is the package’s', async () => {
    const text = await readFile(path.join(import.meta.dirname, '../package.json'), 'utf8');
    const { version } = JSON.parse(text) as { version: string };
    expect(await runHoldfast(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect((await runHoldfast(['version'])).stdout).toMatch(new RegExp(`^holdfast ${version}\\nNode.js `));
  });
});

describe('crds', () => {
  it('[K1] prints definitions that parse', async () => {
    const { stdout } = await runHoldfast(['crds']);
    // As kubectl reads it: YAML 1.1, where a bare Yes is true.
    const documents = parseAllDocuments(stdout, { version: '1.1' }).map(
      (one) => one.toJS() as { metadata: { name: string } },
    );
    expect(documents.map(({ metadata }) => metadata.name)).toEqual([
      'sandboxes.holdfast.dev',
      'sandboxnodes.holdfast.dev',
    ]);
    expect(documents).toEqual(crdManifests());
  });
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('%s: knows every command and flag', async (shell) => {
    const { code, stdout } = await runHoldfast(['completion', shell]);
    expect(code).toBe(0);
    for (const name of COMMANDS) expect(stdout).toContain(name);
    for (const flag of ['data-dir', 'follow', 'no-leader-election', 'log-level'])
      expect(stdout).toContain(flag);
    expect(stdout).toContain('trace debug info warn error silent');
  });
});

describe('logs', () => {
  it('says which kubeconfig it wanted', async () => {
    const { code, stderr } = await runHoldfast(['logs', 'a', '--data-dir', dir]);
    expect(code).toBe(1);
    expect(stderr).toBe(`holdfast: ${dir}/kubeconfig: cannot be read (ENOENT)\n`);
  });
});

describe('findInitBinary', () => {
  it('takes the one that was named, or says that there is none', async () => {
    const named = path.join(dir, 'init');
    expect(() => findInitBinary(named)).toThrow(`there is no file ${named}`);
    await writeFile(named, '');
    expect(findInitBinary(named)).toBe(named);
  });

  it('finds it beside the bundle, also from a chunk of it', async () => {
    await writeFile(path.join(dir, 'holdfast-init'), '');
    expect(findInitBinary(undefined, dir)).toBe(path.join(dir, 'holdfast-init'));
    expect(findInitBinary(undefined, path.join(dir, 'chunks'))).toBe(path.join(dir, 'holdfast-init'));
    await rm(path.join(dir, 'holdfast-init'));
    expect(() => findInitBinary(undefined, dir)).toThrow('make init');
  });
});

it('writes private files for their owner alone', async () => {
  const file = path.join(dir, 'sub', 'kubeconfig');
  await writePrivateFile(file, 'x');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
});

describe('explain', () => {
  const system = (code: string, rest: object = {}): Error =>
    Object.assign(new Error(`${code}: text`), { code, ...rest });
  it.each<[unknown, string]>([
    [new Failure('as it is'), 'as it is'],
    [
      system('EADDRINUSE', { address: '127.0.0.1', port: 1 }),
      '127.0.0.1:1 is taken by another program: choose another with --port',
    ],
    [
      system('EADDRNOTAVAIL', { address: '1.2.3.4' }),
      '1.2.3.4 is no address of this machine: choose another with --host',
    ],
    [system('EACCES', { path: '/d', syscall: 'mkdir' }), '/d: no permission (mkdir)'],
    [
      system('EACCES', { address: '127.0.0.1', port: 80, syscall: 'listen' }),
      '127.0.0.1:80: no permission (listen)',
    ],
    [system('ENOSPC', { path: '/d' }), '/d: the disk is full'],
    [system('ENOTDIR', { path: '/d' }), '/d: is in the way (not a folder)'],
    [new TypeError(''), 'TypeError'],
    ['text', 'text'],
  ])('%s', (error, text) => {
    expect(explain(error)).toBe(text);
  });
});

describe('stopOnSignals', () => {
  it('asks to stop once, ends at once the second time, and lets go', () => {
    const handlers = new Map<string, (signal: NodeJS.Signals) => void>();
    const codes: number[] = [];
    const told: string[] = [];
    const { stop, release } = stopOnSignals({
      process: {
        on: (name: string, handler: (signal: NodeJS.Signals) => void) => handlers.set(name, handler),
        off: (name: string) => handlers.delete(name),
        exit: (code: number) => codes.push(code),
      } as unknown as NodeJS.Process,
      onFirst: (signal) => told.push(signal),
    });
    handlers.get('SIGTERM')?.('SIGTERM');
    expect(stop.aborted).toBe(true);
    expect(codes).toEqual([]);
    handlers.get('SIGINT')?.('SIGINT');
    expect(codes).toEqual([130]);
    expect(told).toEqual(['SIGTERM']);
    release();
    expect(handlers.size).toBe(0);
  });
});
