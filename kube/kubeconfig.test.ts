import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { inClusterConnection } from './in-cluster.ts';
import { KubeconfigError, loadKubeconfig } from './kubeconfig.ts';
import { FakeClock } from './testing/fake-clock.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'kubeconfig-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true });
});

async function file(name: string, content: unknown): Promise<string> {
  const full = path.join(dir, name);
  await mkdir(path.dirname(full), { recursive: true });
  await writeFile(full, typeof content === 'string' ? content : stringify(content));
  return full;
}

function config(cluster: object, user: object, context: object = {}) {
  return {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', ...context } }],
    clusters: [{ name: 'k', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  };
}

describe('loadKubeconfig', () => {
  it('reads server, CA, token and namespace', async () => {
    const at = await file(
      'config',
      config({ 'certificate-authority-data': 'Q0E=' }, { token: 't' }, { namespace: 'mine' }),
    );
    expect(await loadKubeconfig({ files: [at] })).toEqual({
      server: 'https://127.0.0.1:6443',
      caData: 'Q0E=',
      token: 't',
      namespace: 'mine',
    });
  });

  it('reads files named in it from beside it', async () => {
    await file('sub/ca.pem', 'CA');
    await file('sub/cert.pem', 'CERT');
    await file('sub/key.pem', 'KEY');
    const at = await file(
      'sub/config',
      config(
        { 'certificate-authority': 'ca.pem', 'tls-server-name': 'name', 'insecure-skip-tls-verify': true },
        { 'client-certificate': 'cert.pem', 'client-key': path.join(dir, 'sub/key.pem') },
      ),
    );
    expect(await loadKubeconfig({ files: [at] })).toEqual({
      server: 'https://127.0.0.1:6443',
      caData: 'CA',
      tlsServerName: 'name',
      insecureSkipTLSVerify: true,
      certData: 'CERT',
      keyData: 'KEY',
    });
  });

  it('reads a token file again after a minute, and keeps the last one while it cannot', async () => {
    const tokenFile = await file('token', 'one\n');
    const clock = new FakeClock();
    const { token } = await loadKubeconfig({
      files: [await file('config', config({}, { tokenFile: 'token' }))],
      clock,
    });
    if (typeof token !== 'function') throw new Error('not a function');
    expect(await token()).toBe('one');
    await file('token', 'two');
    expect(await token()).toBe('one');
    await clock.advance(60_000);
    expect(await token()).toBe('two');
    await rm(tokenFile);
    await clock.advance(60_000);
    expect(await token()).toBe('two');
  });

  it('merges files as kubectl does, and takes another context when told to', async () => {
    const first = await file('one', config({}, { token: 'first' }));
    const second = await file('two', {
      'current-context': 'other',
      contexts: [{ name: 'other', context: { cluster: 'k2', user: 'u' } }],
      clusters: [{ name: 'k2', cluster: { server: 'https://other' } }],
      users: [{ name: 'u', user: { token: 'second' } }],
    });
    const files = [path.join(dir, 'missing'), first, second];
    expect(await loadKubeconfig({ files })).toMatchObject({ token: 'first' });
    expect(await loadKubeconfig({ files, context: 'other' })).toEqual({
      server: 'https://other',
      token: 'first',
    });
  });

  it('asks a helper program, and asks again for each call', async () => {
    const helper = await file(
      'helper.sh',
      `#!/bin/sh\necho '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"from-helper"}}'\n`,
    );
    await chmod(helper, 0o755);
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: helper,
      interactiveMode: 'Never',
    };
    const at = await file('config', config({}, { exec }));
    const { server, token } = await loadKubeconfig({ files: [at] });
    if (typeof token !== 'function') throw new Error('not a function');
    expect([server, await token()]).toEqual(['https://127.0.0.1:6443', 'from-helper']);
  });

  it('says that a helper program failed', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: path.join(dir, 'none') };
    const at = await file('config', config({}, { exec }));
    await expect(loadKubeconfig({ files: [at] })).rejects.toThrow('context "c" could not be had');
  });

  it.each<[string, unknown, string]>([
    ['no YAML', 'a: [', 'not YAML'],
    ['no map', '7', 'not a kubeconfig'],
    ['no context', { contexts: [{ name: 'x', context: {} }] }, 'no current-context; name one of: x'],
    ['an unknown context', { 'current-context': 'y' }, 'there is no context "y"'],
    ['contexts that are no list', { contexts: 7 }, 'contexts is not a list'],
    ['an entry without a name', { users: [{}] }, 'an entry of users has no name'],
    [
      'an unknown cluster',
      config({}, {}, { cluster: 'z' }),
      'there is no cluster "z" in the kubeconfig; there are: k',
    ],
    ['no server', config({ server: '' }, {}), 'the cluster has no server'],
    ['a server that is no string', config({ server: 7 }, {}), 'server is not a string'],
    ['a password', config({}, { username: 'a' }), 'username is not supported'],
    ['an impersonation', config({}, { as: 'a' }), 'as is not supported'],
    ['a proxy', config({ 'proxy-url': 'x' }, {}), 'proxy-url is not supported'],
    ['a missing file', config({ 'certificate-authority': 'no.pem' }, {}), 'cannot be read (ENOENT)'],
  ])('says what is wrong with %s', async (_, content, message) => {
    const at = await file('config', content);
    const error: unknown = await loadKubeconfig({ files: [at] }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(KubeconfigError);
    expect((error as Error).message).toContain(message);
  });

  it('says that there is none', async () => {
    const missing = path.join(dir, 'a');
    await expect(loadKubeconfig({ files: [missing] })).rejects.toThrow(`${missing}: cannot be read (ENOENT)`);
    await expect(loadKubeconfig({ files: [missing, path.join(dir, 'b')] })).rejects.toThrow('no kubeconfig');
  });
});

describe('inClusterConnection', () => {
  it('uses the service account of the pod', async () => {
    await file('ca.crt', 'CA');
    await file('token', 'tok\n');
    await file('namespace', 'holdfast-system\n');
    const connection = await inClusterConnection({ host: 'fd00::1', port: '443', directory: dir });
    expect(connection).toMatchObject({
      server: 'https://[fd00::1]:443',
      caData: 'CA',
      namespace: 'holdfast-system',
    });
    if (typeof connection.token !== 'function') throw new Error('not a function');
    expect(await connection.token()).toBe('tok');
  });

  it('says what is missing', async () => {
    await expect(inClusterConnection({ host: 'h', port: '1', directory: dir })).rejects.toThrow(
      'ca.crt: cannot be read (ENOENT)',
    );
  });
});
