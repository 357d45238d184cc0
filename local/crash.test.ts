import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startLocalAPI } from './server.ts';
import { temporaryFolder, TestClient, widget, WIDGETS } from './testing.ts';

const SCRIPT = fileURLToPath(new URL('testing-server.ts', import.meta.url));
let folder: ReturnType<typeof temporaryFolder>;

beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder.remove());

interface Running {
  process: ChildProcess;
  client: TestClient;
}

async function start(dataDir = folder.path): Promise<Running> {
  const child = spawn(process.execPath, [SCRIPT, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  lines.close();
  return {
    process: child,
    client: new TestClient(JSON.parse(line) as { url: string; caData: string; token: string }),
  };
}

async function kill(running: Running): Promise<void> {
  const exit = once(running.process, 'exit');
  running.process.kill('SIGKILL');
  await exit;
  running.client.close();
}

interface Acknowledged {
  name: string;
  rv: number;
  size: number;
}

/** Creates and updates until `count` were acknowledged, then kills the server in the middle of the rest. */
async function loadAndKill(running: Running, round: number, count: number): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = [];
  let killed: Promise<void> | undefined;
  const writer = async (id: number): Promise<void> => {
    for (let i = 0; killed === undefined; i++) {
      const name = `r${round}-${id}-${i}`;
      const made = await running.client.call('POST', WIDGETS, { body: widget(name) });
      if (made.code !== 201) throw new Error(`create answered ${made.code}: ${made.text}`);
      acknowledged.push({ name, rv: Number(made.body.metadata.resourceVersion), size: 1 });
      const changed = await running.client.call('PUT', `${WIDGETS}/${name}`, {
        body: { ...made.body, spec: { size: 2 } },
      });
      if (changed.code !== 200) throw new Error(`update answered ${changed.code}: ${changed.text}`);
      acknowledged.push({ name, rv: Number(changed.body.metadata.resourceVersion), size: 2 });
      if (acknowledged.length >= count) killed ??= kill(running);
    }
  };
  await Promise.allSettled(Array.from({ length: 16 }, (_, id) => writer(id)));
  await killed;
  expect(killed).toBeDefined();
  return acknowledged;
}

it('a data folder that another process serves is refused, and is free once that process is gone', async () => {
  const other = temporaryFolder();
  const running = await start(other.path);
  const mine = { dataDir: other.path, crds: [], log: pino({ level: 'silent' }) };
  await expect(startLocalAPI(mine)).rejects.toThrow(
    `is in use by another server (process ${running.process.pid}`,
  );
  await kill(running);
  const api = await startLocalAPI(mine);
  await api.close();
  other.remove();
}, 60_000);

it('[K5] kill -9 under load, again and again, loses no acknowledged write and gives no resourceVersion twice', async () => {
  const all: Acknowledged[] = [];
  for (const [round, count] of [40, 200, 3, 500, 120, 300].entries()) {
    const running = await start();
    all.push(...(await loadAndKill(running, round, count)));
  }
  const last = await start();
  const { body } = await last.client.call('GET', WIDGETS);
  const stored = new Map(
    (body['items'] as { metadata: { name: string; resourceVersion: string }; spec: { size: number } }[]).map(
      (item) => [item.metadata.name, item],
    ),
  );
  const lost = all.filter(({ name, rv, size }) => {
    const item = stored.get(name);
    return item === undefined || Number(item.metadata.resourceVersion) < rv || item.spec.size < size;
  });
  expect(lost).toEqual([]);
  expect(new Set(all.map(({ rv }) => rv)).size).toBe(all.length);
  const after = await last.client.call('POST', WIDGETS, { body: widget('after') });
  expect(Number(after.body.metadata.resourceVersion)).toBeGreaterThan(Math.max(...all.map(({ rv }) => rv)));
  await kill(last);
}, 120_000);
