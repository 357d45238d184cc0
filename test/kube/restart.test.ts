import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crdManifests } from '../../crds/crd-manifests.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import { systemClock } from '../../kube/clock.ts';
import { createKubeClient } from '../../kube/http-client.ts';
import { isAlreadyExists, isNotFound, TransportError } from '../../kube/errors.ts';
import { Lister } from '../../kube/lister.ts';
import { Reflector } from '../../kube/reflector.ts';
import { SANDBOXES } from '../../kube/resources.ts';
import { type LocalAPI, startLocalAPI } from '../../local/server.ts';
import { until } from '../until.ts';

const log = pino({ level: 'silent' });

describe('kube/ while the embedded API server is restarted', () => {
  let dataDir = '';
  let api: LocalAPI;
  const start = async (port: number): Promise<LocalAPI> =>
    await startLocalAPI({ dataDir, port, crds: crdManifests(), log });

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'holdfast-restart-'));
    api = await start(0);
  });
  afterEach(async () => {
    await api.close();
    await rm(dataDir, { recursive: true });
  });

  function clientOf(one: LocalAPI) {
    return createKubeClient({
      server: one.url,
      caData: one.caData,
      token: one.adminToken,
      userAgent: 'holdfast-test',
    });
  }

  function sandbox(name: string): Sandbox {
    return {
      apiVersion: 'holdfast.dev/v1alpha1',
      kind: 'Sandbox',
      metadata: { name, namespace: 'default' },
      spec: { image: 'busybox' },
    } as Sandbox;
  }

  /** As callers do: a write whose connection broke may have taken place; look at it as done if it has. */
  async function surely(write: () => Promise<unknown>): Promise<void> {
    await until('the write takes place', async () => {
      try {
        await write();
        return true;
      } catch (error) {
        if (error instanceof TransportError) return false;
        if (isAlreadyExists(error) || isNotFound(error)) return true;
        throw error;
      }
    });
  }

  it('[K5] a reflector comes back over ten restarts and misses nothing, deletes and new UIDs included', async () => {
    const client = clientOf(api);
    const other = clientOf(api);
    const lister = new Lister<Sandbox>({ log });
    const uids = new Map<string, string>();
    lister.onChange((key, old, object) => {
      if (old && !object) uids.delete(key);
      if (object?.metadata.uid !== undefined) uids.set(key, object.metadata.uid);
    });
    const reflector = new Reflector<Sandbox>({
      client,
      resource: SANDBOXES,
      lister,
      clock: systemClock,
      random: Math.random,
      log,
    });
    const stop = new AbortController();
    const running = reflector.run(stop.signal);
    await reflector.synced;
    const port = Number(new URL(api.url).port);
    for (let turn = 0; turn < 10; turn++) {
      await surely(() => other.create(SANDBOXES, sandbox(`kept-${turn}`)));
      await surely(() => other.create(SANDBOXES, sandbox('again')));
      if (turn > 0) {
        await surely(() => other.delete(SANDBOXES, { namespace: 'default', name: `kept-${turn - 1}` }));
      }
      await api.close();
      api = await start(port);
      await surely(() => other.delete(SANDBOXES, { namespace: 'default', name: 'again' }));
    }
    await surely(() => other.create(SANDBOXES, sandbox('again')));
    const { items } = await other.list<Sandbox>(SANDBOXES, {});
    const expected = Object.fromEntries(
      items.map(({ metadata }) => [`default/${metadata.name}`, metadata.uid]),
    );
    await until('the lister has what the API has', async () => {
      return (
        JSON.stringify(Object.fromEntries([...uids].toSorted(([a], [b]) => (a < b ? -1 : 1)))) ===
        JSON.stringify(expected)
      );
    });
    expect(Object.keys(expected)).toEqual(['default/again', 'default/kept-9']);
    stop.abort();
    await running;
    client.close();
    other.close();
  });
});
