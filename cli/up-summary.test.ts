import { describe, expect, it } from 'vitest';
import type { SandboxNode } from '../crds/sandbox-node.ts';
import { quoted, upSummary } from './up-summary.ts';

type Enforced = 'Yes' | 'No';

function node(limits: Record<'cpu' | 'memory' | 'swap' | 'pids', Enforced>): SandboxNode {
  return {
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'SandboxNode',
    metadata: { name: 'n' },
    status: {
      runtimes: [
        {
          name: 'docker',
          ready: true,
          limits: {
            cpu: { enforced: limits.cpu, reason: '' },
            memory: { enforced: limits.memory, reason: '' },
            swap: { enforced: limits.swap, reason: '' },
            pids: { enforced: limits.pids, reason: '' },
          },
        },
      ],
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'RuntimeUnavailable',
          message: 'docker: gone',
          lastTransitionTime: '',
        },
      ],
    },
  };
}

const config = { nodeName: 'n', dataDir: '/d' };
const facts = { docker: 'Docker 29 at unix:///x, cgroup v2', kubeconfig: '/d/kube config' };
const lineOf = (text: string, word: string): string | undefined =>
  text.split('\n').find((line) => line.startsWith(`  ${word}`));

describe('upSummary', () => {
  it.each<[Record<'cpu' | 'memory' | 'swap' | 'pids', Enforced>, string]>([
    [{ cpu: 'Yes', memory: 'Yes', swap: 'Yes', pids: 'Yes' }, 'it enforces cpu, memory, pids'],
    [{ cpu: 'Yes', memory: 'Yes', swap: 'No', pids: 'No' }, 'it enforces cpu, memory (swap unbounded)'],
    [{ cpu: 'No', memory: 'No', swap: 'No', pids: 'No' }, 'it enforces no limits'],
  ])('[L4] says what the node can enforce: %j', (limits, text) => {
    const summary = upSummary(config, { ready: true, node: node(limits), ...facts });
    expect(lineOf(summary, 'node')).toBe(`  node     n: Docker 29 at unix:///x, cgroup v2; ${text}`);
  });

  it('says why it is not ready', () => {
    const said = upSummary(config, {
      ready: false,
      node: node({ cpu: 'No', memory: 'No', swap: 'No', pids: 'No' }),
      ...facts,
    });
    expect(lineOf(said, 'node')).toBe('  node     n is not ready: docker: gone');
    const silent = upSummary(config, { ready: false, node: undefined, ...facts });
    expect(lineOf(silent, 'node')).toBe('  node     n is not ready: the agent has said nothing yet');
    const none = upSummary(config, {
      ready: false,
      node: undefined,
      ...facts,
      docker: 'no Docker daemon answers:\nStart it',
    });
    expect(none).toContain('n is not ready: no Docker daemon answers:\n           Start it\n');
  });

  it('gives a line for the shell, and says what Ctrl-C does', () => {
    const summary = upSummary(config, { ready: false, node: undefined, ...facts });
    expect(lineOf(summary, 'kubectl')).toBe("  kubectl  export KUBECONFIG='/d/kube config'");
    expect(summary).toContain('sandboxes go on running');
    const ending = upSummary({ ...config, endSandboxes: true }, { ready: false, node: undefined, ...facts });
    expect(ending).toContain('ends the sandboxes');
    expect(quoted("it's")).toBe(`'it'\\''s'`);
    expect(quoted('/plain/path')).toBe('/plain/path');
  });
});
