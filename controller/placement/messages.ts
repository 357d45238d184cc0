import type { Candidate, LimitObjection, Objection } from './types.ts';

/** What L9 asks to be named where the runtime itself knows no better. */
const GENERAL_FIX =
  'Use cgroup v2; for a rootless runtime, delegate the controllers: Delegate=cpu memory pids in user@.service.';

/** A condition's message may have 32768 characters; the rest is counted, never left out without a word. */
const MOST_CHARACTERS = 16_000;

/** Every limit, every node asked, why, and the fix (L9). */
export function unenforceableMessage(
  asked: readonly { candidate: Candidate; objections: readonly LimitObjection[] }[],
): string {
  const limits = [...new Set(asked.flatMap(({ objections }) => objections.map(({ limit }) => limit)))].sort();
  const parts = grouped(
    asked.map(({ candidate, objections }) => ({
      node: `${candidate.view.node.metadata.name} (${candidate.runtime.name})`,
      why: objections.map(limitText).join(' '),
    })),
  );
  return bounded(`No node can be relied on to enforce ${limits.join(', ')}.`, parts);
}

function limitText({ limit, unreadable, why, fix }: LimitObjection): string {
  if (unreadable) return `${limit}: no readable answer (${why.replace(/\.$/, '')}); it is asked again.`;
  return `${limit}: ${sentence(why)} Fix: ${sentence(fix ?? GENERAL_FIX)}`;
}

/** Every node and the reason it was passed over (K4). */
export function unschedulableMessage(objections: readonly Objection[], nodes: number): string {
  const parts = grouped(
    objections.map(({ node, runtime, why }) => ({
      node: runtime === undefined ? node : `${node} (${runtime})`,
      why: sentence(why),
    })),
  );
  return bounded(nodes === 1 ? 'The node cannot take it.' : `None of ${nodes} nodes can take it.`, parts);
}

/** The nodes that were passed over for their storage, with their own figures (S3); undefined: none. */
export function storageMessage(objections: readonly Objection[]): string | undefined {
  if (objections.length === 0) return undefined;
  return bounded(
    'Free storage on a node, or lower its storage reserve.',
    grouped(objections.map(({ node, why }) => ({ node, why: sentence(why) }))),
  );
}

/** Nodes that say the same are named together. Sorted: an equal state must give an equal message. */
function grouped(entries: readonly { node: string; why: string }[]): string[] {
  const nodesOf = new Map<string, string[]>();
  for (const { node, why } of entries) {
    const nodes = nodesOf.get(why);
    if (nodes === undefined) nodesOf.set(why, [node]);
    else nodes.push(node);
  }
  return [...nodesOf]
    .map(([why, nodes]) => ({ why, nodes: nodes.sort() }))
    .sort((a, b) => ((a.nodes[0] ?? '') < (b.nodes[0] ?? '') ? -1 : 1))
    .map(({ why, nodes }) => `${nodes.join(', ')}: ${why}`);
}

function bounded(head: string, parts: readonly string[]): string {
  let text = head;
  for (const [index, part] of parts.entries()) {
    if (text.length + part.length > MOST_CHARACTERS) {
      return `${text} ${parts.length - index} more reasons are not shown.`;
    }
    text += ` ${part}`;
  }
  return text;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
