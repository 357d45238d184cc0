/**
 * Records what a real kube-apiserver answers to the cases: `node test/contract/record.ts [FILE...]`, of another
 * version with HOLDFAST_KUBE_VERSION. The server is built from Go modules where it is not in the cache (see
 * ../cluster/build).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { startCluster } from '../cluster/start.ts';
import { NEWEST } from '../cluster/versions.ts';
import { suites } from './cases/index.ts';
import { Server } from './client.ts';
import { install } from './definitions.ts';
import { recordOpenAPI } from './record-openapi.ts';
import { recordedFile } from './recorded.ts';
import { runCase } from './run.ts';

const only = process.argv.slice(2);
const cluster = await startCluster();
const server = new Server({ url: cluster.url, token: cluster.token });
const target = { server, nobodyToken: cluster.nobodyToken, compact: () => cluster.compact() };
try {
  const version = (await server.request({ method: 'GET', path: '/version' })).body as { gitVersion: string };
  await install(server);
  for (const [name, cases] of Object.entries(suites)) {
    if (only.length > 0 && !only.includes(name)) continue;
    const recorded: Record<string, unknown> = {};
    for (const test of cases) recorded[test.name] = await runCase(target, test);
    const file = recordedFile(cluster.version, name);
    mkdirSync(new URL('.', file), { recursive: true });
    writeFileSync(file, `${JSON.stringify({ server: version.gitVersion, cases: recorded }, null, 1)}\n`);
    console.log(`${name}: ${cases.length} cases`);
  }
  if (only.length === 0 && cluster.version === NEWEST)
    await recordOpenAPI(server, new URL('../../local/openapi/builtin.generated.json', import.meta.url));
} finally {
  server.close();
  await cluster.close();
}
