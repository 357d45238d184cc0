/** A row of the requirements: what the product must do, and whether only a real daemon can show it. */
export interface Row {
  id: string;
  statement: string;
  /** true: a pure test or an API server is not enough. */
  realDaemon: boolean;
  /** true: the row must be shown now; false: it is listed where a test shows it. */
  required: boolean;
}

const row = (
  id: string,
  statement: string,
  options: { realDaemon?: boolean; required?: boolean } = {},
): Row => ({
  id,
  statement,
  realDaemon: options.realDaemon ?? false,
  required: options.required ?? true,
});
const real = { realDaemon: true };
const later = { required: false };

export const ROWS: readonly Row[] = [
  row(
    'L1',
    'cpu, memory and pids in the accepted forms; everything else is refused at apply, for every client',
  ),
  row('L2', 'resources: {} is no resources; equal values in other words are the same sandbox'),
  row('L3', 'The limits bind setup and main; an unknown key is refused for every client', real),
  row(
    'L4',
    'Swap is held to the memory limit where the runtime can, and said to be unbounded where it cannot',
    real,
  ),
  row(
    'L5',
    'A limit is applied or the launch does not happen; what is silently dropped counts as not applied',
    real,
  ),
  row('L6', 'The runtime is asked what it can enforce; the answer is on the SandboxNode', real),
  row('L7', 'A runtime whose answer cannot be read enforces nothing; the answer is never cached', real),
  row('L8', 'There is a default limit of 2048 processes, left out where it cannot be enforced', real),
  row(
    'L9',
    'A limit that no node can enforce stops the sandbox, names nodes, reasons and fix; it starts by itself when one can',
    real,
  ),
  row('L10', 'holdfast doctor', later),
  row(
    'L11',
    'Receipt: the limits in force are read back from the kernel before the first instruction of user code',
    real,
  ),
  row('L12', 'A limit changed under a running sandbox is noticed and reported', real),
  row(
    'O1',
    'The container is kept after it exits, asked, then removed by name; AutoRemove is never used',
    real,
  ),
  row(
    'O2',
    'No log of the container; the reader is in place before user code starts, no first byte is lost',
    real,
  ),
  row('O3', 'A runtime client that is a process runs in a folder of its own', later),
  row(
    'O4',
    'A kill by the memory limit: Event, condition with its verdict, limit and evidence; no automatic retry',
    real,
  ),
  row('O5', 'A launch that still reported a result of its own keeps it', real),
  row(
    'O6',
    "Confirmed by the kernel's counters or the runtime's flag; an ancestor's limit is not ours",
    real,
  ),
  row('O7', 'The flag can come late: asked again for up to two seconds', real),
  row('O8', 'Exit 137 under a memory limit that nothing confirms is Unconfirmed', real),
  row(
    'O9',
    'Exit 137 without a limit, a stop of ours, an outside kill, a restart: each has its own cause',
    real,
  ),
  row('O10', 'What we signal is written down before the signal is sent', { ...real, required: false }),
  row('O11', 'A setup command that the limit killed stops the sandbox the same way', real),
  row('O12', 'The verdict outlives the container', real),
  row('K1', 'kubectl apply, get, describe, wait, explain and delete work as for a built-in kind'),
  row('K2', 'Works on an unmodified kube-apiserver and on the embedded control plane', later),
  row('K3', 'One writer of status at a time; the finalizer goes when the container is gone', real),
  row(
    'K4',
    'Placement: readiness, runtime, limits, storage, capacity, selector; the reason for each node passed over',
  ),
  row(
    'K5',
    'Silent watches, 410, dropped connections, conflicts: handled, with a bound; idle is zero writes',
    later,
  ),
  row('K6', 'Leader election, heartbeats, node loss', later),
  row('K7', 'Deploy: least privilege, and a policy that lets an agent write only what its own node has'),
  row('K9', 'A network allow list stops the sandbox with NetworkUnsupported; it is never ignored'),
  row(
    'K10',
    'Life cycle: Complete, Suspended, Ready; never run twice by itself; a retained one is started again',
    real,
  ),
  row('K11', 'Identity: what restarts, what is applied in place, what is kept', real),
  row('K12', 'Secrets: nobody of Holdfast may read them', later),
];
