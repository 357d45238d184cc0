import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { until } from '../until.ts';
import { CHART, KUSTOMIZE, kustomize, program, useServer } from './server.ts';

interface Manifest {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  [key: string]: unknown;
}

const OVERLAYS = readdirSync(join(KUSTOMIZE, 'overlays')).map((name) => `overlays/${name}`);

/** Odd, but right: each is applied. */
const VALUES: Record<string, string> = {
  default: '',
  'shared nodes': '--set agent.reserve.forKubelet=true',
  'agents outside': '--set agent.enabled=false',
  'old cluster': '--set admissionPolicy.enabled=false,crds.install=false',
  'everything else': [
    `--set image.repository=registry.example:5000/team/holdfast,image.digest=sha256:${'0'.repeat(64)}`,
    '--set imagePullSecrets={one} --set crds.keep=false',
    '--set controller.replicas=1,controller.logLevel=debug,controller.priorityClassName=',
    '--set controller.podDisruptionBudget.minAvailable=50%',
    '--set-json controller.tolerations=[{"operator":"Exists"}]',
    '--set-json controller.nodeSelector={"kubernetes.io/os":"linux"}',
    '--set-json controller.affinity={"nodeAffinity":{}}',
    '--set-json controller.podAnnotations={"a/b":"c"}',
    '--set agent.hostNetwork=true,agent.healthPort=9999,agent.maxUnavailable=10%,agent.logLevel=warn',
    '--set agent.dockerSocket=/run/user/1000/docker.sock,agent.dataDir=/srv/holdfast',
    '--set agent.reserve.cpu=2,agent.reserve.memory=2Gi',
    '--set-json agent.nodeSelector=null --set-json agent.tolerations=[]',
  ].join(' '),
};

const REFUSED: [string, string][] = [
  ['controler.replicas=2', 'controler'],
  ['controller.replicas=-1', '/controller/replicas'],
  ['controller.logLevel=loud', '/controller/logLevel'],
  ['image.pullPolicy=Sometimes', '/image/pullPolicy'],
  ['image.digest=abc', '/image/digest'],
  ['agent.dockerSocket=relative.sock', '/agent/dockerSocket'],
  ['agent.reserve.memory=lots', '/agent/reserve/memory'],
  ['agent.healthPort=0', '/agent/healthPort'],
  ['agent.privileged=true', 'privileged'],
];

async function template(values: string): Promise<string> {
  const flags = values.split(' ').filter((flag) => flag !== '');
  const args = ['template', 'holdfast', CHART, '--namespace', 'holdfast-system', ...flags];
  return (await program('helm', args)).stdout;
}

function manifests(text: string): Manifest[] {
  return parseAllDocuments(text, { version: '1.1' })
    .map((one) => one.toJS() as Manifest | null)
    .filter((one) => one !== null);
}

/** What the two ways to install have on purpose of their own. */
function withoutLabels({ metadata, ...rest }: Manifest): unknown {
  const text = JSON.stringify({ ...rest, name: metadata.name });
  return JSON.parse(
    text
      .replaceAll(/"(app\.kubernetes\.io\/(part-of|version)|helm\.sh\/chart)":"[^"]*",?/g, '')
      .replaceAll(',}', '}'),
  ) as unknown;
}

describe('the manifests', () => {
  it('[K7] kustomize and Helm install the same, apart from the namespace and from labels', async () => {
    const key = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.name}`;
    const some = manifests(await kustomize('base')).filter(({ kind }) => kind !== 'Namespace');
    const others = new Map(manifests(await template('')).map((one) => [key(one), one]));
    expect([...others.keys()].toSorted()).toEqual(some.map(key).toSorted());
    for (const one of some) {
      const other = others.get(key(one));
      if (one.kind === 'CustomResourceDefinition')
        expect(other?.metadata).toMatchObject({ annotations: { 'helm.sh/resource-policy': 'keep' } });
      expect(other && withoutLabels(other)).toEqual(withoutLabels(one));
    }
  });

  it('[K7] the agent sees the socket of the runtime and its own data of the node, and no more', async () => {
    for (const text of [await kustomize('base'), await template('')]) {
      const found = manifests(text).find(({ kind }) => kind === 'DaemonSet') as unknown as {
        spec: { template: { spec: Record<string, unknown> & { volumes: unknown[] } } };
      };
      const { spec } = found.spec.template;
      expect(spec.volumes).toEqual([
        { name: 'docker-socket', hostPath: { path: '/var/run/docker.sock', type: 'Socket' } },
        { name: 'data', hostPath: { path: '/var/lib/holdfast', type: 'DirectoryOrCreate' } },
      ]);
      expect([spec['hostNetwork'], spec['hostPID'], spec['hostIPC']]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      expect(JSON.stringify(spec)).not.toContain('privileged');
    }
  });

  it('[K7] the chart passes the linter', async () => {
    const { stdout } = await program('helm', ['lint', '--strict', CHART, '--namespace', 'holdfast-system']);
    expect(stdout).toContain('0 chart(s) failed');
  });

  it.each(REFUSED)('[K7] the chart refuses %s and names it', async (value, name) => {
    await expect(template(`--set ${value}`)).rejects.toThrow(name);
  });

  it('[K7] the chart refuses another namespace, and two ways to say what is reserved', async () => {
    await expect(program('helm', ['template', 'h', CHART, '-n', 'default'])).rejects.toThrow(
      'install it with --namespace holdfast-system',
    );
    await expect(template('--set agent.reserve.forKubelet=true,agent.reserve.cpu=1')).rejects.toThrow(
      'forKubelet excludes cpu and memory',
    );
  });

  it('[K7] the chart says what an old cluster lacks, and is right for one without it', async () => {
    await expect(template('--kube-version 1.29.3')).rejects.toThrow(
      'Kubernetes v1.29.3 has no ValidatingAdmissionPolicy (1.30 and newer have): set admissionPolicy.enabled=false',
    );
    const without = await template('--kube-version 1.29.3 --set admissionPolicy.enabled=false');
    expect(without).not.toContain('ValidatingAdmissionPolicy');
  });
});

describe('the manifests on kube-apiserver', () => {
  const server = useServer();
  const kubectl = (args: string[], input?: string) => server.current.kubectl(args, input);
  /** Every field known to the server, nothing it warns of. */
  const apply = async (text: string, ...more: string[]): Promise<string> => {
    const strict = ['apply', '--server-side', '--force-conflicts', '--validate=strict', '-f', '-'];
    const { stdout, stderr } = await kubectl([...strict, ...more], text);
    expect(stderr).toBe('');
    return stdout;
  };

  beforeAll(async () => {
    if (server.missing === undefined) await apply(await kustomize('base'));
  });
  beforeEach((context) => {
    if (server.missing !== undefined) context.skip(server.missing);
  });

  it.each(OVERLAYS)('[K7] %s is applied, strictly, with nothing to warn of', async (overlay) => {
    const text = await kustomize(overlay);
    expect((await apply(text)).trim().split('\n')).toHaveLength(manifests(text).length);
  });

  it.each(Object.entries(VALUES))(
    '[K7] the chart with the values "%s" is taken, strictly',
    async (_name, values) => {
      const text = await template(values);
      const said = await apply(text, '--dry-run=server');
      expect(said.trim().split('\n')).toHaveLength(manifests(text).length);
    },
  );

  it('[K7] the policy has no expression that the server finds fault with', async () => {
    const status = await until('its types were checked', async () => {
      const { stdout } = await kubectl(['get', 'validatingadmissionpolicy', 'holdfast-agent', '-o', 'json']);
      const found = (
        JSON.parse(stdout) as { status?: { observedGeneration?: number; typeChecking?: object } }
      ).status;
      return found?.observedGeneration === undefined ? undefined : found;
    });
    expect(status.typeChecking).toEqual({});
  });

  it('[K7] the controller keeps to the strictest pod security level', async () => {
    const level = 'pod-security.kubernetes.io/enforce=restricted';
    await kubectl(['create', 'namespace', 'strict']);
    await kubectl(['label', 'namespace', 'strict', level, level.replace('enforce', 'warn')]);
    const controller = manifests(await kustomize('base')).find(({ kind }) => kind === 'Deployment');
    const moved = { ...controller, metadata: { name: 'c', namespace: 'strict' } };
    await apply(JSON.stringify(moved), '--dry-run=server');
  });

  it('[K7] ResourceQuota counts the sandboxes of a namespace', async () => {
    // It looks for new kinds to count at its start, and every half minute after that.
    await server.current.cluster.controllerManager.end();
    server.current.cluster.controllerManager.start();
    await kubectl(['create', 'namespace', 'team']);
    await kubectl(['-n', 'team', 'create', 'quota', 'few', '--hard=count/sandboxes.holdfast.dev=2']);
    const sandbox = (name: string): string =>
      JSON.stringify({
        apiVersion: 'holdfast.dev/v1alpha1',
        kind: 'Sandbox',
        metadata: { name, namespace: 'team' },
        spec: { image: 'busybox' },
      });
    const quota = (): Promise<string> =>
      kubectl(['-n', 'team', 'get', 'quota', 'few', '-o', 'jsonpath={.status}']).then(({ stdout }) => stdout);
    await until('the quota is counted', async () => (await quota()).includes('used'), { seen: quota });
    for (const name of ['one', 'two']) await kubectl(['create', '-f', '-'], sandbox(name));
    await expect(kubectl(['create', '-f', '-'], sandbox('three'))).rejects.toThrow(
      'exceeded quota: few, requested: count/sandboxes.holdfast.dev=1, used: count/sandboxes.holdfast.dev=2, limited: count/sandboxes.holdfast.dev=2',
    );
    await kubectl(['-n', 'team', 'delete', 'sandbox', 'one']);
    await until('one may come for the one that went', async () =>
      kubectl(['create', '-f', '-'], sandbox('three')).then(
        () => true,
        () => false,
      ),
    );
  });
});

describe('the chart on kube-apiserver', () => {
  const server = useServer();
  beforeEach((context) => {
    if (server.missing !== undefined) context.skip(server.missing);
  });

  it('[K7] is installed, upgraded and uninstalled; the definitions, and with them every sandbox, stay', async () => {
    const { current } = server;
    const where = ['--namespace', 'holdfast-system'];
    const installed = await current.helm(['install', 'holdfast', CHART, ...where, '--create-namespace']);
    expect(installed.stdout).toContain('kubectl label node NODE holdfast.dev/agent=true');
    const upgraded = await current.helm([
      'upgrade',
      'holdfast',
      CHART,
      ...where,
      '--set',
      'agent.enabled=false',
    ]);
    expect(upgraded.stdout).toContain('Agents run outside');
    const sets = await current.kubectl([...where, 'get', 'daemonsets', '-o', 'name']);
    expect(sets.stdout).toBe('');
    await current.helm(['uninstall', 'holdfast', ...where]);
    const left = await current.kubectl(['get', 'crd,clusterrole,validatingadmissionpolicy', '-o', 'name']);
    expect(left.stdout.split('\n').filter((name) => name.includes('holdfast'))).toEqual([
      'customresourcedefinition.apiextensions.k8s.io/sandboxes.holdfast.dev',
      'customresourcedefinition.apiextensions.k8s.io/sandboxnodes.holdfast.dev',
    ]);
  });
});
