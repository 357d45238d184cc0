import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { real, startTarget, type Target } from './kubectl-target.ts';

/** An unmodified kubectl against the embedded API (KUBECTL_SERVER=real: a kube-apiserver), as a user types it. */

const own = join(import.meta.dirname, '../../.cache/bin/kubectl');
const KUBECTL = existsSync(own) ? own : 'kubectl';

interface Outcome {
  code: number;
  out: string;
  err: string;
}

let server: Target;
const file = (name: string): string => join(server.folder, name);

function kubectl(
  args: string[],
  options: { input?: string; env?: Record<string, string> } = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(
      KUBECTL,
      ['--cache-dir', file('cache'), ...args],
      { env: { ...process.env, KUBECONFIG: server.kubeconfig, ...options.env }, timeout: 60_000 },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    );
    child.stdin?.end(options.input ?? '');
  });
}

async function ok(
  args: string[],
  options: { input?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const outcome = await kubectl(args, options);
  expect({ args, code: outcome.code, err: outcome.err }).toEqual({ args, code: 0, err: outcome.err });
  return outcome.out;
}

const manifest = (name: string, spec: string, labels = ''): string =>
  `apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: ${name}\n${labels === '' ? '' : `  labels: {${labels}}\n`}spec: ${spec}\n`;

beforeAll(async () => {
  server = await startTarget();
});
afterAll(() => server.stop());

describe('[K1] kubectl apply', () => {
  it('creates, changes, leaves alone, and takes away what was taken out of the file', async () => {
    const apply = (spec: string): Promise<string> =>
      ok(['apply', '-f', '-'], { input: manifest('app', spec) });
    expect(await apply('{size: 1, color: blue}')).toContain('widget.example.com/app created');
    expect(await apply('{size: 2, color: blue}')).toContain('configured');
    expect(await apply('{size: 2, color: blue}')).toContain('unchanged');
    await apply('{size: 2}');
    expect(await ok(['get', 'widget', 'app', '-o', 'jsonpath={.spec.color}'])).toBe('red');
  });

  it('--dry-run=server validates and stores nothing', async () => {
    expect(
      await ok(['apply', '--dry-run=server', '-f', '-'], { input: manifest('dry', '{size: 1}') }),
    ).toContain('created (server dry run)');
    const bad = await kubectl(['apply', '--dry-run=server', '-f', '-'], {
      input: manifest('dry', '{size: 0}'),
    });
    expect(bad.err).toContain(
      'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
    );
    expect((await kubectl(['get', 'widget', 'dry'])).err).toContain('widgets.example.com "dry" not found');
  });

  it('refuses an unknown field', async () => {
    const { code, err } = await kubectl(['apply', '-f', '-'], {
      input: manifest('typo', '{size: 1, colour: red}'),
    });
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('strict decoding error: unknown field "spec.colour"'),
    ]);
  });

  it('diff shows what would change', async () => {
    await ok(['apply', '-f', '-'], { input: manifest('diff', '{size: 1}') });
    const { code, out } = await kubectl(['diff', '-f', '-'], { input: manifest('diff', '{size: 5}') });
    expect([code, out]).toEqual([1, expect.stringContaining('+  size: 5')]);
  });
});

describe('[K1] kubectl apply --server-side', () => {
  const apply = (name: string, spec: string, ...args: string[]): Promise<Outcome> =>
    kubectl(['apply', '--server-side', ...args, '-f', '-'], { input: manifest(name, spec) });
  const value = (name: string, path: string): Promise<string> =>
    ok(['get', 'widget', name, '-o', `jsonpath={${path}}`]);

  it('creates, changes, and takes away what was taken out of the file', async () => {
    expect((await apply('ssa', '{size: 1, color: blue}')).out).toContain('serverside-applied');
    expect((await apply('ssa', '{size: 2}')).code).toBe(0);
    expect(await value('ssa', '.spec')).toBe('{"color":"red","size":2}');
  });

  it('says whose field it would change, and takes it with --force-conflicts', async () => {
    await apply('shared', '{size: 1}');
    const { code, err } = await apply('shared', '{size: 2}', '--field-manager=other');
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('Apply failed with 1 conflict: conflict with "kubectl": .spec.size'),
    ]);
    expect((await apply('shared', '{size: 2}', '--field-manager=other', '--force-conflicts')).code).toBe(0);
    const managers = await ok(['get', 'widget', 'shared', '--show-managed-fields', '-o', 'json']);
    expect(
      (
        JSON.parse(managers) as { metadata: { managedFields: { manager: string }[] } }
      ).metadata.managedFields.map(({ manager }) => manager),
    ).toEqual(['other']);
  });

  it('diff --server-side shows what would change, and stores nothing', async () => {
    await apply('diff-ssa', '{size: 1}');
    const { code, out } = await kubectl(['diff', '--server-side', '-f', '-'], {
      input: manifest('diff-ssa', '{size: 5}'),
    });
    expect([code, out]).toEqual([1, expect.stringContaining('+  size: 5')]);
    expect(await value('diff-ssa', '.spec.size')).toBe('1');
  });

  it('goes on where client-side apply was, and back', async () => {
    const input = (spec: string): { input: string } => ({ input: manifest('moved', spec) });
    await ok(['apply', '-f', '-'], input('{size: 1, color: blue}'));
    expect(await ok(['apply', 'view-last-applied', 'widget', 'moved'])).toContain('color: blue');
    expect(await ok(['apply', '--server-side', '-f', '-'], input('{size: 2}'))).toContain(
      'serverside-applied',
    );
    // What only client-side apply had set is kubectl's own by now, and was left out.
    expect(await value('moved', '.spec')).toBe('{"color":"red","size":2}');
    expect(await ok(['apply', 'view-last-applied', 'widget', 'moved'])).toContain('size: 2');
    expect(await ok(['apply', '-f', '-'], input('{size: 3}'))).toContain('configured');
    expect(await value('moved', '.spec.size')).toBe('3');
  });

  it('a built-in kind', async () => {
    const input = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\ndata: {a: b}\n';
    await ok(['apply', '--server-side', '-f', '-'], { input });
    await ok(['patch', 'cm', 'ssa', '--type=merge', '-p', '{"data":{"a":"c"}}']);
    const { err } = await kubectl(['apply', '--server-side', '-f', '-'], { input });
    expect(err).toContain('conflict with "kubectl-patch" using v1: .data.a');
  });
});

describe('[K1] kubectl get', () => {
  it('prints the columns of the definition, by short name, wide, by selector', async () => {
    await ok(['apply', '-f', '-'], { input: manifest('tab', '{size: 1, color: green}', 'shown: "yes"') });
    const lines = (await ok(['get', 'wg', '-o', 'wide', '-l', 'shown=yes'])).trim().split('\n');
    expect(lines.map((line) => line.split(/\s+/))).toEqual([
      ['NAME', 'COLOR'],
      ['tab', 'green'],
    ]);
    expect(await ok(['get', 'wg', '--field-selector', 'spec.color=green', '-o', 'name'])).toBe(
      'widget.example.com/tab\n',
    );
    expect(await ok(['get', 'ns'])).toMatch(/NAME +STATUS +AGE\ndefault +Active/);
  });

  it('-w shows what happens', async () => {
    const watching = ok([
      'get',
      'wg',
      '-w',
      '--request-timeout=6s',
      '--field-selector',
      'metadata.name=seen',
    ]);
    const outcome = watching.catch(() => undefined);
    for (let i = 0; i < 3; i++) {
      await ok(['apply', '-f', '-'], { input: manifest('seen', `{size: 1, color: c${i}}`) });
    }
    await outcome;
    const { out } = await kubectl([
      'get',
      'wg',
      '-w',
      '--request-timeout=2s',
      '--field-selector',
      'metadata.name=seen',
    ]);
    expect(out).toMatch(/NAME +COLOR\nseen +c2/);
  });

  it('pages through a long list', async () => {
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        server.client.call('POST', '/api/v1/namespaces/default/configmaps', {
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `page-${i}` } },
        }),
      ),
    );
    const names = await ok(['get', 'cm', '--chunk-size=7', '-o', 'name']);
    // A controller of a real cluster puts one there of its own.
    expect(names.split('\n').filter((name) => name.includes('/page-'))).toHaveLength(30);
  });
});

describe('[K1] the other verbs', () => {
  it('describe shows the object and its Events', async () => {
    await ok(['apply', '-f', '-'], { input: manifest('told', '{size: 1}') });
    const uid = await ok(['get', 'widget', 'told', '-o', 'jsonpath={.metadata.uid}']);
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'told.1', namespace: 'default' },
      involvedObject: {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        name: 'told',
        namespace: 'default',
        uid,
      },
      reason: 'Happened',
      message: 'something happened',
      type: 'Normal',
      source: { component: 'test' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
    };
    expect(
      (await server.client.call('POST', '/api/v1/namespaces/default/events', { body: event })).code,
    ).toBe(201);
    const out = await ok(['describe', 'widget', 'told']);
    expect(out).toMatch(/Kind: +Widget/);
    expect(out).toMatch(/Normal +Happened +.* +test +something happened/);
    expect(await ok(['get', 'events'])).toContain('something happened');
    expect(await ok(['events'])).toContain('something happened');
  });

  it('wait for a condition, a deletion and a value', async () => {
    await ok(['apply', '-f', '-'], { input: manifest('waited', '{size: 1}') });
    const ready = ok(['wait', 'widget/waited', '--for=jsonpath={.status.phase}=Done', '--timeout=30s']);
    await ok([
      'patch',
      'widget',
      'waited',
      '--subresource=status',
      '--type=merge',
      '-p',
      '{"status":{"phase":"Done"}}',
    ]);
    expect(await ready).toContain('condition met');
    // It says something only where it found the object yet.
    const gone = ok(['wait', 'widget/waited', '--for=delete', '--timeout=30s']);
    await ok(['delete', 'widget', 'waited']);
    await gone;
    expect((await kubectl(['get', 'widget', 'waited'])).err).toContain('not found');
  });

  it('explain', async () => {
    expect(await ok(['explain', 'widget.spec.size'])).toMatch(/FIELD: size <integer>/);
    expect(await ok(['explain', 'configmap.data'])).toMatch(/FIELD: data <map\[string\]string>/);
  });

  it('edit, through an editor', async () => {
    await ok(['apply', '-f', '-'], { input: manifest('edited', '{size: 1}') });
    const editor = file('editor.sh');
    writeFileSync(editor, '#!/bin/sh\nsed -i "s/size: 1/size: 7/" "$1"\n', { mode: 0o755 });
    expect(
      await ok(['edit', 'widget', 'edited'], { env: { EDITOR: editor, KUBE_EDITOR: editor } }),
    ).toContain('edited');
    expect(await ok(['get', 'widget', 'edited', '-o', 'jsonpath={.spec.size}'])).toBe('7');
  });

  it('label, annotate, patch, replace', async () => {
    await ok(['apply', '-f', '-'], { input: manifest('changed', '{size: 1}') });
    await ok(['label', 'widget', 'changed', 'a=b']);
    await ok(['annotate', 'widget', 'changed', 'c=d']);
    await ok([
      'patch',
      'widget',
      'changed',
      '--type=json',
      '-p',
      '[{"op":"replace","path":"/spec/size","value":3}]',
    ]);
    const object = await ok(['get', 'widget', 'changed', '-o', 'json']);
    expect(JSON.parse(object)).toMatchObject({
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
      spec: { size: 3 },
    });
    await ok(['replace', '-f', '-'], { input: object.replace('"size": 3', '"size": 4') });
    expect(await ok(['get', 'widget', 'changed', '-o', 'jsonpath={.spec.size}'])).toBe('4');
  });

  it('create namespace and delete it with what is in it', async () => {
    expect(await ok(['create', 'namespace', 'mine'])).toContain('namespace/mine created');
    await ok(['-n', 'mine', 'apply', '-f', '-'], { input: manifest('inside', '{size: 1}') });
    expect(await ok(['delete', 'namespace', 'mine', '--timeout=30s'])).toContain('deleted');
    expect((await kubectl(['get', 'ns', 'mine'])).err).toContain('namespaces "mine" not found');
  });

  it('create configmap, secret, serviceaccount, role and binding; get and describe them', async () => {
    await ok(['create', 'configmap', 'c1', '--from-literal=a=b']);
    await ok(['create', 'secret', 'generic', 's1', '--from-literal=a=b']);
    await ok(['create', 'serviceaccount', 'bob']);
    await ok(['create', 'role', 'look', '--verb=get,list', '--resource=widgets']);
    await ok(['create', 'rolebinding', 'look', '--role=look', '--serviceaccount=default:bob']);
    expect(await ok(['describe', 'configmap', 'c1'])).toContain('a:\n----\nb');
    expect(await ok(['get', 'secret', 's1', '-o', 'jsonpath={.data.a}'])).toBe('Yg==');
    expect(await ok(['describe', 'rolebinding', 'look'])).toContain('ServiceAccount  bob');
    expect(
      await ok(['apply', '-f', '-'], {
        input: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c2}\ndata: {a: b}\n',
      }),
    ).toContain('created');
    expect(
      await ok(['apply', '-f', '-'], {
        input: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c2}\ndata: {c: d}\n',
      }),
    ).toContain('configured');
    expect(JSON.parse(await ok(['get', 'cm', 'c2', '-o', 'jsonpath={.data}']))).toEqual({ c: 'd' });
  });

  it('auth can-i answers from the stored rights', async () => {
    await ok(['create', 'clusterrole', 'watcher', '--verb=watch', '--resource=widgets']);
    await ok(['create', 'clusterrolebinding', 'watcher', '--clusterrole=watcher', '--user=ann']);
    expect(await ok(['auth', 'can-i', 'create', 'widgets'])).toBe('yes\n');
    expect(await ok(['auth', 'can-i', 'watch', 'widgets', '--as=ann'])).toBe('yes\n');
    expect((await kubectl(['auth', 'can-i', 'delete', 'widgets', '--as=ann'])).out).toBe('no\n');
    expect(await ok(['auth', 'can-i', '--list', '--as=ann'])).toMatch(
      /widgets\.example\.com +\[\] +\[\] +\[watch\]/,
    );
    expect(await ok(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'])).toBe(
      real ? 'admin' : 'local-admin',
    );
  });

  it('api-resources, api-versions and version', async () => {
    expect(await ok(['api-resources'])).toMatch(/widgets +wg +example\.com\/v1 +true +Widget/);
    expect(await ok(['api-versions'])).toContain('example.com/v1\n');
    expect(await ok(['version'])).toMatch(/Server Version: v1\.\d+\.\d+/);
  });

  it('a definition of one’s own', async () => {
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'parts.example.net' },
      spec: {
        group: 'example.net',
        scope: 'Namespaced',
        names: { plural: 'parts', kind: 'Part' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
              },
            },
          },
        ],
      },
    };
    await ok(['apply', '-f', '-'], { input: JSON.stringify(crd) });
    await ok(['wait', '--for=condition=Established', 'crd/parts.example.net', '--timeout=10s']);
    await ok(['apply', '-f', '-'], {
      input: 'apiVersion: example.net/v1\nkind: Part\nmetadata: {name: p}\nspec: {size: 1}\n',
    });
    expect(await ok(['get', 'parts'])).toMatch(/NAME +AGE\np +/);
    await ok(['delete', 'crd', 'parts.example.net', '--timeout=30s']);
    // kubectl may know the kind from its cache yet.
    expect((await kubectl(['get', 'parts'])).err).toMatch(
      /doesn't have a resource type|could not find the requested resource/,
    );
  });

  it('delete of several, by selector and by file', async () => {
    for (const name of ['d1', 'd2', 'd3'])
      await ok(['apply', '-f', '-'], { input: manifest(name, '{size: 1}', 'd: "1"') });
    await ok(['delete', '-f', '-'], { input: manifest('d3', '{size: 1}') });
    expect((await ok(['delete', 'widgets', '-l', 'd=1'])).trim().split('\n')).toHaveLength(2);
  });
});
