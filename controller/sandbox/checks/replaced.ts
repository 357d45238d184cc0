import type { Termination } from '../../../crds/limits-status.ts';
import type { SandboxStatus } from '../../../crds/sandbox.ts';
import type { ConditionInput } from '../../../kube/conditions.ts';
import { conditionOf, statusWith, waiting } from '../pictures.ts';
import type { Decision, Observation } from '../types.ts';
import { isLost, lostStatus } from './lost.ts';

/** That of a node's lease, for what has not begun and so has no fence yet. */
const LEASE_SECONDS = 40;

/**
 * `onNodeLoss: Replace`: the sandbox is taken back from a lost node, to be placed anew, when it has certainly ended
 * there: twice the time after which its init ends it without a heartbeat (docs/decisions/0081-fencing.md). Never
 * before, and never where its init was not told to.
 */
export function replaced(seen: Observation): Decision | undefined {
  const { sandbox, home } = seen;
  if (home === undefined || sandbox.spec.onNodeLoss !== 'Replace' || !isLost(home)) return undefined;
  // What has ended, is held or waits for a person does not run: it stays what it is.
  if (conditionOf(seen, 'Complete')?.status === 'True' || conditionOf(seen, 'Stalled')?.status === 'True')
    return undefined;
  if (sandbox.spec.suspend === true) return undefined;
  const fence = sandbox.status?.fenceSeconds;
  if (fence === undefined && mayHaveBegun(seen)) {
    const lost = lostStatus(
      seen,
      'It is not placed anew: its init was not told to end it by itself, or is of a version that cannot.',
    );
    return { because: 'its node is lost, and it may still run there', ...lost };
  }
  const afterMs = 2000 * (fence ?? LEASE_SECONDS);
  if (home.silentMs < afterMs) {
    const lost = lostStatus(
      seen,
      fence === undefined
        ? `It has not begun, and is placed anew ${afterMs / 1000} s after the last heartbeat.`
        : `It ends itself ${fence} s after the last heartbeat, and is placed anew ${afterMs / 1000} s after it.`,
    );
    return {
      because: 'its node is lost, and it has perhaps not ended itself yet',
      ...lost,
      afterMs: afterMs - home.silentMs,
    };
  }
  const message = `Node ${home.name} is lost: no renewal of its lease was seen for ${afterMs / 1000} s.`;
  return {
    because: 'it has ended itself on its lost node',
    act: 'TakeBack',
    silentMs: afterMs,
    status: takenBack(seen, message, fence),
    event: { type: 'Warning', reason: 'Replaced', message: `${message} The sandbox is placed anew.` },
  };
}

/** User code begins only after a status that has one of these. */
function mayHaveBegun(seen: Observation): boolean {
  const { limits, startedAt, setup } = seen.sandbox.status ?? {};
  const enforced = conditionOf(seen, 'LimitsEnforced')?.status === 'True';
  return enforced || limits !== undefined || startedAt !== undefined || setup !== undefined;
}

function takenBack(seen: Observation, why: string, fence: number | undefined): SandboxStatus {
  const message = `${why} The sandbox is placed anew.`;
  const next = statusWith(seen, {
    phase: 'Pending',
    conditions: [
      { type: 'Scheduled', status: 'False', reason: 'NodeLost', message },
      ...['LimitsEnforced' as const, 'SetupComplete' as const, 'OOMKilled' as const].flatMap(
        (type): ConditionInput[] =>
          conditionOf(seen, type) === undefined
            ? []
            : [
                {
                  type,
                  status: 'False',
                  reason: 'NotLaunched',
                  message: 'Nothing has been launched anew yet.',
                },
              ],
      ),
      ...waiting(seen, 'NodeLost', message),
    ],
    without: ['ContainerGone'],
    ...(fence !== undefined && { set: { lastTermination: termination(seen, why, fence) } }),
  });
  for (const field of PLACE) delete next[field];
  return next;
}

/** What is true of one place alone. */
const PLACE = [
  'nodeName',
  'runtime',
  'containerName',
  'containerID',
  'imageID',
  'specHash',
  'limits',
  'fenceSeconds',
  'startedAt',
  'setup',
] as const satisfies readonly (keyof SandboxStatus)[];

function termination(seen: Observation, why: string, fence: number): Termination {
  const { status, metadata } = seen.sandbox;
  const inSetup = conditionOf(seen, 'SetupComplete')?.status === 'False';
  return {
    launch: inSetup ? 'Setup' : 'Main',
    cause: 'NodeLost',
    verdict: 'Confirmed',
    message: `The sandbox ended itself: node lost: no heartbeat of its agent, backed by a renewed lease, had come for ${fence} s.`,
    evidence: [
      `${why} A fresh look at the lease showed the same.`,
      `The agent had told init to end the sandbox ${fence} s after the last heartbeat (status.fenceSeconds).`,
    ],
    ...(status?.containerID !== undefined && { containerID: status.containerID }),
    ...(status?.startedAt !== undefined && { startedAt: status.startedAt }),
    finishedAt: seen.now.toISOString(),
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
  };
}
