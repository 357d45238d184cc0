import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalAPI, startLocalAPI } from '../../local/server.ts';
import { type Cluster, startCluster } from '../cluster/start.ts';
import { chosenVersion, NEWEST } from '../cluster/versions.ts';
import { suites } from './cases/index.ts';
import { Server } from './client.ts';
import { install } from './definitions.ts';
import { differences, gaps } from './differences.ts';
import { recorded } from './recorded.ts';
import { runCase, type Target } from './run.ts';
import type { Outcome } from './types.ts';

/** CONTRACT_SERVER=real runs the cases against a kube-apiserver instead: the recording is then what is tested. */
const real = process.env['CONTRACT_SERVER'] === 'real';

let local: LocalAPI | undefined;
let cluster: Cluster | undefined;
let target: Target;
/** The embedded server is held to the newest. */
const version = real ? chosenVersion() : NEWEST;
const dir = mkdtempSync(join(tmpdir(), 'contract-'));

beforeAll(async () => {
  if (real) {
    const started = await startCluster();
    cluster = started;
    const server = new Server({ url: cluster.url, token: cluster.token });
    target = { server, nobodyToken: cluster.nobodyToken, compact: () => started.compact() };
  } else {
    const api = await startLocalAPI({ dataDir: dir, crds: [], log: pino({ level: 'silent' }) });
    local = api;
    const server = new Server({ url: api.url, token: api.adminToken, ca: api.caData });
    target = { server, nobodyToken: api.token('nobody', ['nobodies']), compact: async () => api.compact() };
  }
  await install(target.server);
});

afterAll(async () => {
  target?.server.close();
  await local?.close();
  await cluster?.close();
  rmSync(dir, { recursive: true, force: true });
});

/** The recording, with what may differ put in. */
function expected(suite: string, test: string, outcomes: Outcome[]): Outcome[] {
  const copy = structuredClone(outcomes);
  if (!real)
    for (const difference of differences)
      if (difference.suite === suite && difference.tests.includes(test)) difference.edit(copy);
  return copy;
}

for (const [suite, cases] of Object.entries(suites)) {
  describe(`[K2] ${suite} on ${real ? `kube-apiserver ${version}` : 'embedded'}, as recorded`, () => {
    const wanted = recorded(version, suite);
    for (const test of cases) {
      const gap = !real && gaps.some((entry) => entry.suite === suite && entry.tests.includes(test.name));
      (gap ? it.fails : it)(test.name, async () => {
        expect(await runCase(target, test)).toEqual(expected(suite, test.name, wanted[test.name] ?? []));
      });
    }
  });
}
