import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { specHash } from '../../crds/identity.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import type { Connection } from '../../kube/kubeconfig.ts';
import { SANDBOXES } from '../../kube/resources.ts';
import { type RunningAPI, testAPIs } from '../controller/apis.ts';
import { eventually } from '../../controller/testing/world.ts';
import { limitCases } from './limit-cases.ts';

/** The same refusals on every API server, for clients that ask for strict validation and for those that do not (L1). */
describe.each(testAPIs())('the definitions on the $name API', ({ start }) => {
  let api: RunningAPI;

  beforeAll(async () => {
    api = await start();
  });

  afterAll(async () => {
    await api.stop();
  });

  describe.each(['Ignore', 'Warn', 'Strict'] as const)('fieldValidation=%s', (fieldValidation) => {
    it.each(limitCases.filter(({ value }) => value !== undefined))(
      '[L1] $field $value means $means',
      async ({ field, value, means }) => {
        const answer = await create(api.connection, { [field]: value }, fieldValidation);
        if (means !== undefined) {
          expect(answer.status, answer.body).toBe(201);
          return;
        }
        expect(answer.status, answer.body).toBe(422);
        expect(answer.message).toContain('spec.resources');
        expect(answer.message).toContain(field);
        // What is no whole number and no string, the schema refuses in its own words, with the type for the value.
        const bySchema = answer.message.includes('must be of type integer,string');
        if (bySchema) return;
        expect(answer.message).toMatch(/accepted: .* from .* to /);
        const shown = typeof value === 'string' ? `"${value.replaceAll('\n', '\\n')}"` : String(value);
        expect(answer.message).toContain(`${field}: ${shown} is refused`);
      },
    );

    it('[L3] an unknown key is refused and named', async () => {
      const answer = await create(api.connection, { cpus: 1 }, fieldValidation);
      expect(answer.status).toBe(422);
      expect(answer.message).toContain('unknown key "cpus"; accepted keys: cpu, memory, pids');
    });

    it('[L3] more keys than there are limits are refused', async () => {
      const answer = await create(api.connection, { cpu: 1, memory: '1g', pids: 9, gpu: 1 }, fieldValidation);
      expect(answer.status).toBe(422);
      expect(answer.message).toContain('spec.resources');
    });
  });

  it('[K1] publishes the texts of kubectl explain, with how to write a limit', async () => {
    let text = '';
    await eventually(async () => {
      ({ body: text } = await call(api.connection, 'GET', '/openapi/v3/apis/holdfast.dev/v1alpha1'));
      return text.includes('dev.holdfast.v1alpha1.SandboxNode');
    });
    expect(text).toContain('a fraction must be quoted');
    expect(text).toContain('What the runtime can enforce.');
  });

  it('[L2] what is stored has the identity of what was sent', async () => {
    const sent = body({ cpu: '0.5' });
    const stored = await api.client.create<Sandbox>(SANDBOXES, sent, { dryRun: true });
    expect(specHash(stored.spec)).toBe(specHash(sent.spec));
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    [
      'an unknown runtime',
      { runtime: 'lxc' },
      /spec\.runtime: Unsupported value: "lxc": supported values: "docker", "podman"/,
    ],
    [
      'a 1 MiB env',
      { env: [{ name: 'A', value: 'x'.repeat(2 ** 20) }] },
      /spec\.env\[0\]\.value: Too long: may not be more than 131072/,
    ],
    ['no image', { image: '' }, /spec\.image/],
    ['a bad name of a variable', { env: [{ name: '1=2' }] }, /spec\.env\[0\]\.name/],
    ['a variable given twice', { env: [{ name: 'A' }, { name: 'A' }] }, /spec\.env\[1\]: Duplicate value/],
    [
      'a value with a source',
      { env: [{ name: 'A', value: '', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
      /value and valueFrom exclude/,
    ],
    ['setup without init', { setup: { command: ['a'] }, init: false }, /setup needs init/],
    ['a relative workspace', { workspace: { path: 'work' } }, /spec\.workspace\.path/],
    [
      'a workspace over /proc',
      { workspace: { path: '/proc' } },
      /spec\.workspace.*"\/proc" is refused; accepted: an absolute/,
    ],
    ['a NUL in an argument', { command: ['a\0b'] }, /spec\.command\[0\]/],
    [
      'a negative TTL',
      { ttlSecondsAfterFinished: -1 },
      /spec\.ttlSecondsAfterFinished.*greater than or equal to 0/,
    ],
    ['an unknown field', { imagePullPolice: 'Never' }, /unknown field "spec\.imagePullPolice"/],
  ])('[K1] %s is refused, with the field', async (_, change, message) => {
    await expect(
      api.client.create(
        SANDBOXES,
        { ...body({}), spec: { image: 'busybox:1', ...change } } as unknown as Sandbox,
        { dryRun: true },
      ),
    ).rejects.toThrow(message);
  });
});

function body(resources: Record<string, unknown>): Sandbox {
  return {
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'Sandbox',
    metadata: { namespace: 'default', name: 'refusals' },
    spec: { image: 'busybox:1', resources },
  } as unknown as Sandbox;
}

interface Answer {
  status: number;
  body: string;
  message: string;
}

/** Our own client is always strict, so this one speaks for the others. */
async function create(
  connection: Connection,
  resources: Record<string, unknown>,
  fieldValidation: string,
): Promise<Answer> {
  const path = '/apis/holdfast.dev/v1alpha1/namespaces/default/sandboxes';
  const query = `dryRun=All&fieldValidation=${fieldValidation}`;
  const answer = await call(connection, 'POST', `${path}?${query}`, body(resources));
  return { ...answer, message: (JSON.parse(answer.body) as { message?: string }).message ?? '' };
}

function call(
  connection: Connection,
  method: string,
  path: string,
  sent?: unknown,
): Promise<Omit<Answer, 'message'>> {
  return new Promise((resolve, reject) => {
    const asked = request(
      new URL(path, connection.server),
      {
        method,
        headers: {
          authorization: `Bearer ${String(connection.token)}`,
          'content-type': 'application/json',
          accept: 'application/json',
        },
        ...(connection.caData === undefined ? { rejectUnauthorized: false } : { ca: connection.caData }),
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      },
    );
    asked.on('error', reject);
    asked.end(sent === undefined ? undefined : JSON.stringify(sent));
  });
}
