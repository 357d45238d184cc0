import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually, startTestServer, type TestServer, widget, WIDGETS } from '../testing.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer({ compaction: { ageMs: 3_600_000, maxRevisions: 20 } });
});
afterEach(() => server.stop());

const create = (name: string): Promise<unknown> =>
  server.client.call('POST', WIDGETS, { body: widget(name) });

/** More than the history holds and one step of compaction beside it. */
async function fill(): Promise<void> {
  await Promise.all(Array.from({ length: 600 }, (_, i) => create(`w${i}`)));
}

it('[K5] a watch from before the history is told 410 Expired', async () => {
  await create('a');
  await fill();
  const event = await eventually(async () => {
    const events = server.client.watch(`${WIDGETS}?watch=1&resourceVersion=1&timeoutSeconds=20`);
    const first = await events.next();
    events.close();
    return first?.type === 'ERROR' ? first : undefined;
  });
  expect(event.object).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' });
  expect(event.object.message).toMatch(/^too old resource version: 1 \(\d+\)$/);
});

it('a page of a state that is gone is a 410 that offers to go on without it', async () => {
  await create('a');
  await create('b');
  const first = await server.client.call('GET', `${WIDGETS}?limit=1`);
  const token = (first.body.metadata as unknown as { continue: string }).continue;
  await fill();
  const expired = await eventually(async () => {
    const answer = await server.client.call('GET', `${WIDGETS}?limit=1&continue=${token}`);
    return answer.code === 410 ? answer : undefined;
  });
  expect(expired.body).toMatchObject({ reason: 'Expired' });
  const next = (expired.body.metadata as unknown as { continue: string }).continue;
  const rest = await server.client.call('GET', `${WIDGETS}?limit=1&continue=${next}`);
  expect((rest.body['items'] as { metadata: { name: string } }[])[0]?.metadata.name).toBe('b');
});
