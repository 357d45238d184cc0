import type { Logger } from 'pino';
import type { ConditionInput } from '../../../kube/conditions.ts';
import type { SandboxNodeSpec } from '../../../crds/sandbox-node.ts';
import { parseCPU, parseMemory } from '../../../crds/quantity.ts';
import { ApiError, type KubeClient, type KubeObject } from '../../../kube/client.ts';
import type { Clock } from '../../../kube/clock.ts';
import { isNotFound } from '../../../kube/errors.ts';
import { NODES } from '../../../kube/resources.ts';

/** What counts here of `v1.Node`: the same machine as its kubelet sees it. */
export interface KubeletNode extends KubeObject {
  spec?: { unschedulable?: boolean; taints?: { key: string; effect: string }[] };
  status?: { allocatable?: Record<string, string> };
}

/** A look at the Node is good for this long. */
const FRESH_MS = 30_000;

/** Looks at the Node of the same name, where there is one: a machine may have an agent and no kubelet. */
export class KubeletNodeReader {
  readonly #options: { client: KubeClient; clock: Clock; log: Logger; nodeName: string };
  #seen: { node: KubeletNode | undefined; atMs: number } | undefined;
  #refused = false;

  constructor(options: { client: KubeClient; clock: Clock; log: Logger; nodeName: string }) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<KubeletNode | undefined> {
    const now = this.#options.clock.monotonicMs();
    if (this.#seen === undefined || now - this.#seen.atMs >= FRESH_MS)
      this.#seen = { node: await this.#get(signal), atMs: now };
    return this.#seen.node;
  }

  /** As read, but throws where it cannot be known whether there is one. */
  certain(signal: AbortSignal): Promise<KubeletNode | undefined> {
    return this.#ask(signal);
  }

  async #get(signal: AbortSignal): Promise<KubeletNode | undefined> {
    const { log } = this.#options;
    try {
      return await this.#ask(signal);
    } catch (error) {
      if (error instanceof ApiError && error.code === 403) {
        if (!this.#refused)
          log.warn({ err: error }, 'the Node may not be read: nothing is said of the kubelet');
        this.#refused = true;
        return undefined;
      }
      // It is a warning that is left out for a while, no reason to leave out the rest.
      log.debug({ err: error }, 'the Node could not be read');
      return this.#seen?.node;
    }
  }

  async #ask(signal: AbortSignal): Promise<KubeletNode | undefined> {
    const { client, nodeName } = this.#options;
    try {
      return await client.get<KubeletNode>(NODES, { name: nodeName }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

/** What is to be reserved so that nothing is promised twice. */
export function givenByKubelet(node: KubeletNode | undefined): NonNullable<SandboxNodeSpec['reserved']> {
  const { cpu, memory } = node?.status?.allocatable ?? {};
  const bytes = bytesOf(memory);
  return {
    ...(parseCPU(cpu).ok && cpu !== undefined && { cpu }),
    ...(bytes !== undefined && { memory: bytes }),
  };
}

/** Set by Kubernetes itself while something is wrong; they do not keep pods away for good. */
const PASSING_TAINTS = /^(node\.kubernetes\.io|node\.cloudprovider\.kubernetes\.io)\//;

/**
 * Whether the kubelet could promise to pods the memory that sandboxes could be promised. It counts the requests of
 * pods against its allocatable and knows no sandbox; the controller counts the limits of sandboxes against the total
 * less `spec.reserved` and knows no pod. The sum is not more than there is when what is reserved covers what the
 * kubelet may give. undefined: there is no kubelet, or nothing is known of it.
 */
export function memoryOverlap(
  node: KubeletNode | undefined,
  reserved: SandboxNodeSpec['reserved'],
): ConditionInput | undefined {
  const allocatable = bytesOf(node?.status?.allocatable?.['memory']);
  if (node === undefined || allocatable === undefined) return undefined;
  const taint = node.spec?.taints?.find(
    ({ key, effect }) => effect !== 'PreferNoSchedule' && !PASSING_TAINTS.test(key),
  );
  if (taint !== undefined || node.spec?.unschedulable === true) {
    const by = taint === undefined ? 'it is cordoned' : `the taint ${taint.key}:${taint.effect}`;
    return no('DedicatedNode', `Pods are kept off the node: ${by}.`);
  }
  const held = reserved?.memory === undefined ? 0 : bytesReserved(reserved.memory);
  if (held >= allocatable) {
    return no('HeldBack', `${held} bytes are reserved; the kubelet gives pods at most ${allocatable} bytes.`);
  }
  return {
    type: 'MemoryOverlap',
    status: 'True',
    reason: 'SharedWithKubelet',
    message:
      `The kubelet of this node may give pods ${allocatable} bytes of memory, and ${held} are reserved from ` +
      `sandboxes: up to ${allocatable - held} bytes could be promised twice. Taint the node ` +
      `(holdfast.dev/dedicated:NoSchedule), or set spec.reserved.memory to at least what the kubelet gives, which ` +
      `its systemReserved makes smaller.`,
  };
}

function no(reason: 'DedicatedNode' | 'HeldBack', message: string): ConditionInput {
  return { type: 'MemoryOverlap', status: 'False', reason, message };
}

/** What is no quantity the schema refuses; one that got past it reserves nothing. */
function bytesReserved(memory: string | number): number {
  const parsed = parseMemory(memory);
  return parsed.ok ? parsed.value : 0;
}

const SUFFIXES: Readonly<Record<string, number>> = {
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** `resource.Quantity` as a kubelet writes memory. */
function bytesOf(quantity: string | undefined): number | undefined {
  const found = /^([0-9]+(?:\.[0-9]+)?(?:[eE][0-9]+)?)([A-Za-z]{0,2})$/.exec(quantity ?? '');
  const unit = SUFFIXES[found?.[2] ?? ''];
  return found === null || unit === undefined ? undefined : Math.floor(Number(found[1]) * unit);
}
