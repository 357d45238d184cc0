/**
 * `make test-versions`: everything that is asked of an API server, on a kube-apiserver of each version. Names of
 * versions as arguments choose some of them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { VERSIONS } from '../test/cluster/versions.ts';
import { ROOT } from './setup/cache.ts';
import { startKubeAPIServer, withoutKubeAPIServer } from './tests/kube-apiserver.ts';
import { closingLine, count, type TestResult } from './tests/results.ts';
import { vitest } from './tests/run.ts';

/** Suites that take the server they are given. */
const GIVEN = ['test/kube', 'test/controller', 'test/deploy'];
/** Suites that start one of the version for themselves. */
const OWN = ['test/contract', 'test/local/kubectl.test.ts'];

const asked = process.argv.slice(2);
const unknown = asked.filter((one) => !(VERSIONS as readonly string[]).includes(one));
if (unknown.length > 0)
  throw new Error(`no such version: ${unknown.join(', ')}; known are ${VERSIONS.join(', ')}`);

const lines: string[] = [];
const all: TestResult[] = [];
for (const version of VERSIONS.filter((one) => asked.length === 0 || asked.includes(one))) {
  console.log(`\nKubernetes ${version}`);
  const results = await onVersion(version);
  lines.push(`${version}: ${closingLine(count(results))}`);
  for (const { file, title } of results.filter(({ result }) => result === 'failed'))
    lines.push(`  failed: ${file}: ${title}`);
  all.push(...results);
}
console.log(`\n${lines.join('\n')}\n\n${closingLine(count(all))}`);
process.exitCode = count(all).failed === 0 ? 0 : 1;

async function onVersion(version: (typeof VERSIONS)[number]): Promise<TestResult[]> {
  const env = { ...process.env, HOLDFAST_KUBE_VERSION: version };
  const server = await startKubeAPIServer(version);
  if (typeof server === 'string') return [withoutKubeAPIServer(server)];
  const given = GIVEN.filter((path) => existsSync(join(ROOT, path)));
  const results: TestResult[] = [];
  try {
    results.push(
      ...(await vitest(`${version}-given`, given, { ...env, HOLDFAST_TEST_KUBECONFIG: server.kubeconfig })),
    );
  } finally {
    await server.close();
  }
  const own = { ...env, CONTRACT_SERVER: 'real', KUBECTL_SERVER: 'real' };
  results.push(...(await vitest(`${version}-own`, [...OWN, '--retry=2'], own)));
  return results;
}
