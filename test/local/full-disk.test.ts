import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, temporaryFolder, type TestServer, widget, WIDGETS } from '../../local/testing.ts';

/** A file system that is really full, where one can be mounted; local/server.test.ts shows the same with a bound on the file. */

const folder = temporaryFolder();
const mount = join(folder.path, 'disk');
mkdirSync(mount);
const mounted = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', mount]).status === 0;
const ballast = join(mount, 'ballast');
let server: TestServer | undefined;

beforeAll(async () => {
  if (mounted) server = await startTestServer({ dataDir: join(mount, 'data') });
});
afterAll(async () => {
  await server?.stop();
  if (mounted) spawnSync('/bin/umount', [mount]);
  folder.remove();
});

it.skipIf(!mounted)(
  'a full disk: writes are refused with 507, reads go on, and all is well when there is room again',
  { meta: { needs: 'to mount a tmpfs' } },
  async () => {
    const { client } = server as TestServer;
    const create = (name: string) =>
      client.call('POST', WIDGETS, {
        body: widget(name, { metadata: { name, annotations: { a: 'x'.repeat(20_000) } } }),
      });
    expect((await create('before')).code).toBe(201);
    const watch = client.watch(`${WIDGETS}?watch=1&timeoutSeconds=60`);
    expect((await watch.next())?.object.metadata.name).toBe('before');

    // All that is left, but for a little that ends in the middle of a page of the log.
    spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1k', 'count=6000'], { stdio: 'ignore' });
    const kept: string[] = [];
    const codes = new Set<number>();
    for (let i = 0; i < 40; i++) {
      const { code, text } = await create(`full-${i}`);
      codes.add(code);
      if (code === 201) kept.push(`full-${i}`);
      else expect(text).toContain('nothing was');
    }
    expect(codes).toContain(507);
    const { body } = await client.call('GET', WIDGETS);
    expect(
      (body['items'] as { metadata: { name: string } }[]).map((item) => item.metadata.name).toSorted(),
    ).toEqual(['before', ...kept].toSorted());

    rmSync(ballast);
    expect((await create('after')).code).toBe(201);
    for (const name of [...kept, 'after']) expect((await watch.next())?.object.metadata.name).toBe(name);
    watch.close();
  },
);

it.skipIf(!mounted)(
  'what was written survives a restart after it',
  { meta: { needs: 'to mount a tmpfs' } },
  async () => {
    const { api } = server as TestServer;
    await api.close();
    writeFileSync(ballast, '');
    const again = await startTestServer({ dataDir: join(mount, 'data') });
    expect((await again.client.call('GET', `${WIDGETS}/after`)).code).toBe(200);
    await again.stop();
  },
);
