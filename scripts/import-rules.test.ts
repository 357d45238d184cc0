import { describe, expect, it } from 'vitest';
import { violations } from './import-rules.ts';

const found = (file: string, source: string) =>
  violations(file, source).map(({ line, why }) => `${line}: ${why}`);

describe('import direction', () => {
  it('lets a folder import itself and what is below it', () => {
    expect(
      found('kube/lease.ts', "import { x } from './clock.ts';\nimport type { Y } from '../crds/meta.ts';"),
    ).toEqual([]);
    expect(found('cli/main.ts', "import { startController } from '../controller/start.ts';")).toEqual([]);
  });

  it('refuses what is above or beside it, types included, and says the line', () => {
    expect(found('crds/x.ts', "\nimport type { A } from '../kube/client.ts';")).toEqual([
      '2: crds/ may import itself',
    ]);
    expect(found('runtime/agent/x.ts', "export { a } from '../../controller/a.ts';")).toEqual([
      '1: runtime/ may import itself, crds, kube',
    ]);
    expect(found('controller/x.ts', "const a = await import('../local/server.ts');")).toEqual([
      '1: controller/ may import itself, crds, kube',
    ]);
  });

  it('sees an import over several lines and one without bindings', () => {
    expect(found('kube/x.ts', "import {\n  a,\n  type B,\n} from '../cli/main.ts';")).toHaveLength(1);
    expect(found('kube/x.ts', "import '../cli/main.ts';")).toHaveLength(1);
  });

  it('takes no notice of comments', () => {
    expect(found('crds/x.ts', "/*\nimport { a } from '../kube/a.ts';\n*/")).toEqual([]);
  });

  it('keeps the Sandbox out of the embedded control plane', () => {
    expect(found('local/store.ts', "import { meta } from '../crds/meta.ts';")).toEqual([]);
    expect(found('local/store.ts', "import type { Sandbox } from '../crds/sandbox.ts';")).toEqual([
      '1: local/ may import itself, kube',
    ]);
  });

  it('lets tests alone import test/', () => {
    expect(found('kube/x.test.ts', "import { f } from '../test/fakes/f.ts';")).toEqual([]);
    expect(found('kube/x.ts', "import { f } from '../test/fakes/f.ts';")).toEqual([
      '1: only tests import test/',
    ]);
  });

  it('wants heavy packages imported lazily', () => {
    expect(found('kube/x.ts', "import { KubeConfig } from '@kubernetes/client-node';")).toHaveLength(1);
    expect(found('kube/x.ts', "import type { KubeConfig } from '@kubernetes/client-node';")).toEqual([]);
    expect(found('kube/x.ts', "const k = await import('@kubernetes/client-node');")).toEqual([]);
    expect(
      found('kube/foreign-credentials.ts', "import { KubeConfig } from '@kubernetes/client-node';"),
    ).toEqual([]);
    expect(found('cli/x.ts', "import { f } from '../kube/foreign-credentials.ts';")).toHaveLength(1);
  });
});
