import type { SandboxNode } from '../crds/sandbox-node.ts';
import type { UpConfig } from './config.ts';
import type { NodeState } from './node-ready.ts';
import { VERSION } from './version.ts';

const INDENT = '  node     ';

/** What `holdfast up` says when it is up, for people. */
export function upSummary(
  config: Pick<UpConfig, 'nodeName' | 'dataDir' | 'endSandboxes'>,
  facts: NodeState & { docker: string; kubeconfig: string },
): string {
  return [
    `Holdfast ${VERSION} is up on this machine.`,
    `${INDENT}${config.nodeName}${facts.ready ? `: ${facts.docker}; ${limits(facts.node)}` : notReady(facts)}`,
    `  data     ${config.dataDir}`,
    `  kubectl  export KUBECONFIG=${quoted(facts.kubeconfig)}`,
    config.endSandboxes === true
      ? 'Ctrl-C stops it and ends the sandboxes.'
      : 'Ctrl-C stops it; sandboxes go on running until the next start.',
    '',
  ].join('\n');
}

function limits(node: SandboxNode | undefined): string {
  const runtime = node?.status?.runtimes?.[0];
  if (!runtime) return 'it enforces no limits';
  const enforced = (['cpu', 'memory', 'pids'] as const).filter(
    (limit) => runtime.limits[limit].enforced === 'Yes',
  );
  if (enforced.length === 0) return 'it enforces no limits';
  const swap =
    enforced.includes('memory') && runtime.limits.swap.enforced !== 'Yes' ? ' (swap unbounded)' : '';
  return `it enforces ${enforced.join(', ').replace('memory', `memory${swap}`)}`;
}

function notReady({ node, docker }: NodeState & { docker: string }): string {
  const said = node?.status?.conditions?.find(({ type }) => type === 'Ready')?.message;
  const text = docker.startsWith('no Docker') ? docker : (said ?? 'the agent has said nothing yet');
  return ` is not ready: ${text.replaceAll('\n', `\n${' '.repeat(INDENT.length)}`)}`;
}

/** As a shell takes it. */
export function quoted(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
