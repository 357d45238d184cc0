import type { NodeRuntime, SandboxNodeStatus } from '../../../crds/sandbox-node.ts';
import type { Condition } from '../../../crds/meta.ts';
import { type ConditionInput, removeCondition, setCondition } from '../../../kube/conditions.ts';
import { unknownCapabilities } from '../../capabilities/limit-capabilities.ts';
import type { RuntimeAnswer } from '../sandbox/types.ts';

export interface NodeFacts {
  agent: NonNullable<SandboxNodeStatus['agent']>;
  runtimes: { name: 'docker' | 'podman'; answer: RuntimeAnswer; probe: { ready: boolean; why: string } }[];
  /** Of memory with the kubelet; undefined: there is none to say something of. */
  overlap: ConditionInput | undefined;
  now: Date;
  generation: number | undefined;
}

/** What the SandboxNode says; `askedAt` moves only when something else does, so that an idle node writes nothing. */
export function nodeStatus(before: SandboxNodeStatus | undefined, facts: NodeFacts): SandboxNodeStatus {
  const askedAt = `${facts.now.toISOString().slice(0, 19)}Z`;
  const runtimes = facts.runtimes.map((one): NodeRuntime => {
    const next = runtimeStatus(one);
    const old = before?.runtimes?.find((other) => other.name === one.name);
    if (
      old !== undefined &&
      JSON.stringify({ ...old, askedAt: '' }) === JSON.stringify({ ...next, askedAt: '' })
    ) {
      return old;
    }
    return { ...next, askedAt };
  });
  return {
    ...before,
    agent: facts.agent,
    runtimes,
    conditions: conditions(before?.conditions, runtimes, facts),
  };
}

function runtimeStatus(one: NodeFacts['runtimes'][number]): NodeRuntime {
  if (one.answer.state !== 'Ok') {
    return {
      name: one.name,
      // What sets no limit may run where only the answer about limits is unreadable (L7).
      ready: one.answer.state === 'Unreadable' && one.probe.ready,
      message: one.answer.message.slice(0, 1024),
      // Nothing is taken from an earlier answer (L7).
      limits: unknownCapabilities(
        `The runtime gave no readable answer: ${one.answer.message}`.slice(0, 1024),
      ),
    };
  }
  return {
    ...one.answer.info,
    name: one.name,
    ready: one.probe.ready,
    ...(one.probe.ready ? {} : { message: `The probe is not ready: ${one.probe.why}`.slice(0, 1024) }),
  };
}

function conditions(before: Condition[] | undefined, runtimes: NodeRuntime[], facts: NodeFacts): Condition[] {
  const ready = runtimes.some((runtime) => runtime.ready);
  const message = ready
    ? `Ready: ${runtimes
        .filter((runtime) => runtime.ready)
        .map((runtime) => `${runtime.name} ${runtime.version ?? ''}`.trim())
        .join(', ')}.`
    : runtimes.map((runtime) => `${runtime.name}: ${runtime.message ?? 'not ready'}`).join('; ');
  const context = { now: facts.now, observedGeneration: facts.generation };
  const kept =
    facts.overlap === undefined
      ? removeCondition(before, 'MemoryOverlap')
      : setCondition(before, facts.overlap, context);
  return setCondition(
    kept,
    {
      type: 'Ready',
      status: ready ? 'True' : 'False',
      reason: ready ? 'AsRequested' : 'RuntimeUnavailable',
      message,
    },
    context,
  );
}
