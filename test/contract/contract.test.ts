import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalAPI, startLocalAPI } from '../../local/server.ts';
import { type Cluster, startCluster } from '../cluster/start.ts';
import { suites } from './cases/index.ts';
import { Server } from './client.ts';
import { install } from './definitions.ts';
import { differences, gaps } from './differences.ts';
import { runCase, type Target } from './run.ts';
import type { Outcome } from './types.ts';

/** CONTRACT_SERVER=real runs the cases against a kube-apiserver instead: the recording is then what is tested. */
const real = process.env['CONTRACT_SERVER'] === 'real';

let local: LocalAPI | undefined;
let cluster: Cluster | undefined;
let target: Target;
const dir = mkdtempSync(join(tmpdir(), 'contract-'));

beforeAll(async () => {
  if (real) {
    cluster = await startCluster();
    const server = new Server({ url: cluster.url, token: cluster.token });
    target = { server, nobodyToken: cluster.nobodyToken };
  } else {
    local = await startLocalAPI({ dataDir: dir, crds: [], log: pino({ level: 'silent' }) });
    const server = new Server({ url: local.url, token: local.adminToken, ca: local.caData });
    target = { server, nobodyToken: local.token('nobody', ['nobodies']) };
  }
  await install(target.server);
});

afterAll(async () => {
  target?.server.close();
  await local?.close();
  await cluster?.close();
  rmSync(dir, { recursive: true, force: true });
});

function recorded(suite: string): Record<string, Outcome[]> {
  const text = readFileSync(new URL(`./recorded/${suite}.json`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { cases: Record<string, Outcome[]> }).cases;
}

/** The recording, with what may differ put in. */
function expected(suite: string, test: string, outcomes: Outcome[]): Outcome[] {
  const copy = structuredClone(outcomes);
  if (!real)
    for (const difference of differences)
      if (difference.suite === suite && difference.tests.includes(test)) difference.edit(copy);
  return copy;
}

for (const [suite, cases] of Object.entries(suites)) {
  describe(`[K2] ${suite} on ${real ? 'kube-apiserver' : 'embedded'}, as recorded`, () => {
    const wanted = recorded(suite);
    for (const test of cases) {
      const gap = !real && gaps.some((entry) => entry.suite === suite && entry.tests.includes(test.name));
      (gap ? it.fails : it)(test.name, async () => {
        expect(await runCase(target, test)).toEqual(expected(suite, test.name, wanted[test.name] ?? []));
      });
    }
  });
}
