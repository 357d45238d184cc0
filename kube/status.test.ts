import { describe, expect, it } from 'vitest';
import { ConflictError } from './errors.ts';
import { writeStatus } from './status.ts';
import { FakeKubeClient } from './testing/fake-client.ts';
import { thing, THINGS, type Thing } from './testing/fixtures.ts';

describe('writeStatus', () => {
  it('[K5] writes where the status differs, and only there', async () => {
    const client = new FakeKubeClient();
    const created = await client.create<Thing>(THINGS, thing('a'));
    const written = await writeStatus(client, THINGS, created, { phase: 'Running', nodeName: undefined });
    expect(written.status).toEqual({ phase: 'Running' });
    expect(created.status).toBeUndefined();
    expect(await writeStatus(client, THINGS, written, { nodeName: undefined, phase: 'Running' })).toBe(
      written,
    );
    expect(client.writes.map(({ verb, subresource }) => [verb, subresource])).toEqual([
      ['create', undefined],
      ['update', 'status'],
    ]);
  });

  it('[K3] throws a conflict of its own type when another wrote meanwhile, and writes nothing over it', async () => {
    const client = new FakeKubeClient();
    const mine = await client.create<Thing>(THINGS, thing('a'));
    await writeStatus(client, THINGS, mine, { nodeName: 'theirs' });
    await expect(writeStatus(client, THINGS, mine, { nodeName: 'mine' })).rejects.toThrow(ConflictError);
    expect((await client.get<Thing>(THINGS, { namespace: 'default', name: 'a' })).status).toEqual({
      nodeName: 'theirs',
    });
  });

  it('[K3] both writers at once, 200 times: each condition of each survives', async () => {
    const client = new FakeKubeClient();
    await client.create<Thing>(THINGS, thing('a'));
    let conflicts = 0;
    const write = async (key: string): Promise<void> => {
      for (let turn = 1; turn <= 200; turn++) {
        for (;;) {
          const now = await client.get<Thing>(THINGS, { namespace: 'default', name: 'a' });
          try {
            await writeStatus(client, THINGS, now, { ...now.status, [key]: turn });
            break;
          } catch (error) {
            if (!(error instanceof ConflictError)) throw error;
            conflicts += 1;
          }
        }
      }
    };
    await Promise.all([write('controller'), write('agent')]);
    const end = await client.get<Thing>(THINGS, { namespace: 'default', name: 'a' });
    expect(end.status).toEqual({ controller: 200, agent: 200 });
    expect(conflicts).toBeGreaterThan(0);
  });
});
