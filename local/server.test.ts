import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { startLocalAPI } from './server.ts';
import {
  eventually,
  startTestServer,
  temporaryFolder,
  TestClient,
  type TestServer,
  widget,
  widgetDefinition,
  WIDGETS,
} from './testing.ts';

const log = pino({ level: 'silent' });
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

function testFolder(): string {
  const folder = temporaryFolder();
  stops.push(() => folder.remove());
  return folder.path;
}

async function startIn(dataDir: string, options: Partial<Parameters<typeof startLocalAPI>[0]> = {}) {
  const api = await startLocalAPI({ dataDir, crds: [widgetDefinition()], log, ...options });
  stops.push(() => api.close());
  const client = new TestClient({ url: api.url, caData: api.caData, token: api.adminToken });
  stops.push(() => client.close());
  return { api, client };
}

async function serverOfItsOwn(): Promise<TestServer> {
  const server = await startTestServer();
  stops.push(() => server.stop());
  return server;
}

describe('the data folder', () => {
  it('belongs to one server: a second one is refused and told whose it is', async () => {
    const dataDir = testFolder();
    const { api } = await startIn(dataDir);
    await expect(startLocalAPI({ dataDir, crds: [], log })).rejects.toThrow(
      `the data folder ${dataDir} is in use by another server (process ${process.pid}, ${api.url})`,
    );
  });

  it('has nothing that others can read', async () => {
    const dataDir = testFolder();
    chmodSync(dataDir, 0o700);
    await startIn(dataDir);
    for (const file of ['kubeconfig', 'tokens.json', 'ca.key', 'server.key', 'server.json', 'state.db']) {
      expect([file, statSync(join(dataDir, file)).mode & 0o077]).toEqual([file, 0]);
    }
  });

  it('keeps objects, tokens and the authority over a restart, and a restart writes nothing', async () => {
    const dataDir = testFolder();
    const first = await startIn(dataDir);
    await first.client.call('POST', WIDGETS, { body: widget('a') });
    const before = await first.client.call('GET', WIDGETS);
    await first.api.close();
    const second = await startIn(dataDir);
    expect(second.api.adminToken).toBe(first.api.adminToken);
    expect(second.api.caData).toBe(first.api.caData);
    const after = await second.client.call('GET', WIDGETS);
    expect(after.body.metadata.resourceVersion).toBe(before.body.metadata.resourceVersion);
    expect(after.body['items']).toEqual(before.body['items']);
  });

  it('keeps what it has when a definition changes, and serves the new one', async () => {
    const dataDir = testFolder();
    const first = await startIn(dataDir);
    await first.client.call('POST', WIDGETS, { body: widget('a') });
    await first.api.close();
    const crd = widgetDefinition();
    crd.spec.versions[0]?.additionalPrinterColumns?.push({
      name: 'Size',
      type: 'integer',
      jsonPath: '.spec.size',
    });
    const second = await startIn(dataDir, { crds: [crd] });
    const { body } = await second.client.call('GET', WIDGETS, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    expect((body['rows'] as { cells: unknown[] }[])[0]?.cells).toEqual(['a', 'red', 1]);
  });

  it('that is damaged is refused, naming what cannot be read', async () => {
    const dataDir = testFolder();
    writeFileSync(join(dataDir, 'state.db'), 'this is no database, whatever its name says'.repeat(100));
    await expect(startLocalAPI({ dataDir, crds: [], log })).rejects.toThrow(
      `the data folder ${dataDir} cannot be opened: state.db: file is not a database; use a copy of the folder, or another one`,
    );
    rmSync(join(dataDir, 'state.db'));
    writeFileSync(join(dataDir, 'tokens.json'), '{"format":');
    await expect(startLocalAPI({ dataDir, crds: [], log })).rejects.toThrow(
      'tokens.json is not a token file of this version',
    );
    rmSync(join(dataDir, 'tokens.json'));
    await startIn(dataDir);
  });

  it('refuses to start with a definition that is wrong', async () => {
    const crd = widgetDefinition();
    crd.spec.scope = 'Elsewhere' as 'Cluster';
    await expect(startLocalAPI({ dataDir: testFolder(), crds: [crd], log })).rejects.toThrow(/spec\.scope/);
  });
});

describe('the connection', () => {
  it('is on loopback unless asked otherwise', async () => {
    const { api } = await serverOfItsOwn();
    expect(new URL(api.url).hostname).toBe('127.0.0.1');
    const config = JSON.parse(readFileSync(api.kubeconfigPath, 'utf8')) as {
      clusters: { cluster: { server: string } }[];
    };
    expect(config.clusters[0]?.cluster.server).toBe(api.url);
  });

  it('is TLS with a certificate that the authority in the kubeconfig has signed; plain HTTP gets nothing', async () => {
    const { api } = await serverOfItsOwn();
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('error', () => {});
    await new Promise((resolve) => socket.on('close', resolve));
    expect(text).not.toContain('200 OK');
  });

  it('that is dropped in the middle of a body does no harm', async () => {
    const { api, client } = await serverOfItsOwn();
    const { request } = await import('node:https');
    const call = request(`${api.url}${WIDGETS}`, {
      ca: api.caData,
      method: 'POST',
      headers: {
        Authorization: `Bearer ${api.adminToken}`,
        'Content-Type': 'application/json',
        'Content-Length': 1000,
      },
    });
    call.on('error', () => {});
    call.write('{"apiVersion":');
    await new Promise((resolve) => call.once('socket', (socket) => socket.once('secureConnect', resolve)));
    call.destroy();
    expect((await client.call('GET', WIDGETS)).body['items']).toEqual([]);
  });
});

describe('the end', () => {
  it('is clean: watches end, the folder is free, its holder file gone', async () => {
    const dataDir = testFolder();
    const { api, client } = await startIn(dataDir);
    const events = client.watch(`${WIDGETS}?watch=1`);
    const end = events.next();
    await client.call('GET', WIDGETS);
    await api.close();
    expect(await end).toBeUndefined();
    expect(existsSync(join(dataDir, 'server.json'))).toBe(false);
    await eventually(async () => {
      await startIn(dataDir);
      return true;
    });
  });
});

describe('what was begun before the end', () => {
  it('is done after it: namespaces are emptied, what has lost its owner goes', async () => {
    const dataDir = testFolder();
    const first = await startIn(dataDir);
    const inside = '/apis/example.com/v1/namespaces/going/widgets';
    const held = { finalizers: ['example.com/hold'] };
    await first.client.call('POST', '/api/v1/namespaces', {
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' } },
    });
    await first.client.call('POST', inside, {
      body: widget('held', { metadata: { name: 'held', ...held } }),
    });
    const owner = await first.client.call('POST', WIDGETS, {
      body: widget('owner', { metadata: { name: 'owner', ...held } }),
    });
    const reference = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      name: 'owner',
      uid: owner.body.metadata.uid,
      blockOwnerDeletion: true,
    };
    await first.client.call('POST', WIDGETS, {
      body: widget('owned', { metadata: { name: 'owned', ownerReferences: [reference], ...held } }),
    });
    await first.client.call('DELETE', '/api/v1/namespaces/going');
    await first.client.call('DELETE', `${WIDGETS}/owner?propagationPolicy=Foreground`);
    await first.api.close();
    const { client } = await startIn(dataDir);
    for (const path of [`${inside}/held`, `${WIDGETS}/owned`, `${WIDGETS}/owner`]) {
      await eventually(
        async () => (await client.call('GET', path)).body.metadata.deletionTimestamp !== undefined,
      );
      await client.call('PATCH', path, {
        body: [{ op: 'remove', path: '/metadata/finalizers/0' }],
        contentType: 'application/json-patch+json',
      });
    }
    for (const path of ['/api/v1/namespaces/going', `${WIDGETS}/owned`, `${WIDGETS}/owner`]) {
      await eventually(async () => (await client.call('GET', path)).code === 404);
    }
  });
});

describe('a full disk', () => {
  it('is a 507 with a Status, loses nothing, and is over when there is room', async () => {
    const dataDir = testFolder();
    const { client, api } = await startIn(dataDir, { maxPages: 120 });
    let refused = 0;
    let accepted = 0;
    for (let i = 0; i < 300 && refused < 3; i++) {
      const body = widget(`w${i}`, { metadata: { name: `w${i}`, annotations: { a: 'x'.repeat(8000) } } });
      const answer = await client.call('POST', WIDGETS, { body });
      if (answer.code === 201) accepted += 1;
      else {
        refused += 1;
        expect(answer.code).toBe(507);
        expect(answer.body).toMatchObject({ kind: 'Status', reason: 'InsufficientStorage' });
        expect(answer.text).not.toContain('    at ');
      }
    }
    expect(refused).toBe(3);
    expect(((await client.call('GET', WIDGETS)).body['items'] as unknown[]).length).toBe(accepted);
    await client.call('DELETE', WIDGETS);
    await api.close();
    const roomy = await startIn(dataDir);
    expect((await roomy.client.call('POST', WIDGETS, { body: widget('after') })).code).toBe(201);
  });
});
