import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { run, type Target } from './target.ts';

const BIN = join(import.meta.dirname, '../../.cache/bin');
const CHART = join(import.meta.dirname, 'chart');
const PLACE = ['-n', 'helm-client'];

/** A chart with a definition, an object of it, rights and a hook, through its life. */
export async function helmClient(target: Target): Promise<string | undefined> {
  const helm = join(BIN, 'helm');
  if (!existsSync(helm)) return `${helm} is not there (make setup)`;
  const env = {
    KUBECONFIG: target.kubeconfig,
    HELM_CACHE_HOME: join(target.folder, 'helm/cache'),
    HELM_CONFIG_HOME: join(target.folder, 'helm/config'),
    HELM_DATA_HOME: join(target.folder, 'helm/data'),
  };
  const ok = async (program: string, ...args: string[]): Promise<string> => {
    const { code, out, err } = await run(join(BIN, program), [...PLACE, ...args], { env });
    expect({ args, code, err }).toEqual({ args, code: 0, err: expect.any(String) as string });
    return out;
  };
  const value = (kind: string, name: string, path: string): Promise<string> =>
    ok(
      'kubectl',
      '--cache-dir',
      join(target.folder, 'kubectl'),
      'get',
      kind,
      name,
      '-o',
      `jsonpath={${path}}`,
    );

  const installed = await ok(
    'helm',
    'install',
    'one',
    CHART,
    '--create-namespace',
    '--wait',
    '--timeout',
    '60s',
  );
  expect(installed).toContain('one is there.');
  expect(await value('thing', 'one', '.spec')).toBe('{"color":"red","size":1}');
  expect(await value('configmap', 'one-hook', '.data.revision')).toBe('1');

  await ok(
    'helm',
    'upgrade',
    'one',
    CHART,
    '--set',
    'size=3,extra=true,color=green',
    '--wait',
    '--timeout',
    '60s',
  );
  expect(await value('thing', 'one', '.spec.size')).toBe('3');
  expect(await value('thing', 'one-extra', '.spec.size')).toBe('2');
  expect(await value('configmap', 'one', '.data.color')).toBe('green');

  const refused = await run(
    join(BIN, 'helm'),
    [...PLACE, 'upgrade', 'one', CHART, '--set', 'size=0,extra=true'],
    { env },
  );
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining('should be greater than or equal to 1'),
  ]);

  await ok('helm', 'rollback', 'one', '1', '--wait', '--timeout', '60s');
  expect(await value('thing', 'one', '.spec.size')).toBe('1');
  expect(await ok('helm', 'status', 'one')).toContain('STATUS: deployed');

  await ok('helm', 'uninstall', 'one', '--wait', '--timeout', '60s');
  const left = await ok(
    'kubectl',
    '--cache-dir',
    join(target.folder, 'kubectl'),
    'get',
    'things,sa,role',
    '-o',
    'name',
  );
  expect(left.split('\n').filter((line) => line.includes('/one'))).toEqual([]);
  return undefined;
}
