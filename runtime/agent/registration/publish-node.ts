import { API_VERSION } from '../../../crds/group.ts';
import type { SandboxNode, SandboxNodeSpec, SandboxNodeStatus } from '../../../crds/sandbox-node.ts';
import type { Logger } from 'pino';
import type { KubeClient } from '../../../kube/client.ts';
import type { Clock } from '../../../kube/clock.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../../kube/errors.ts';
import { SANDBOX_NODES } from '../../../kube/resources.ts';
import { writeStatus } from '../../../kube/status.ts';
import type { Steps } from '../../../kube/fault-points.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import { givenByKubelet, KubeletNodeReader, memoryOverlap } from './kubelet-node.ts';
import { nodeStatus } from './node-status.ts';

export interface NodePublisherOptions {
  client: KubeClient;
  clock: Clock;
  nodeName: string;
  agent: NonNullable<SandboxNodeStatus['agent']>;
  runtimes: readonly Runtime[];
  /** `spec.reserved` of a SandboxNode that is made here. */
  reserve: NonNullable<SandboxNodeSpec['reserved']>;
  /** And what the kubelet may give to pods. */
  reserveForKubelet: boolean;
  log: Logger;
  step: Steps;
}

const TRIES = 5;

/** Makes the SandboxNode if there is none, and writes its status where it differs. One write at a time. */
export class NodePublisher {
  readonly #options: NodePublisherOptions;
  readonly #kubelet: KubeletNodeReader;
  #node: SandboxNode | undefined;
  #under: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;

  constructor(options: NodePublisherOptions) {
    this.#options = options;
    this.#kubelet = new KubeletNodeReader(options);
  }

  /** One that waits for its turn serves all who ask meanwhile. */
  publish(signal: AbortSignal): Promise<void> {
    if (this.#waiting !== undefined) return this.#waiting;
    const next = this.#under.then(() => {
      this.#waiting = undefined;
      return this.#publish(signal);
    });
    this.#waiting = next;
    this.#under = next.catch(() => undefined);
    return next;
  }

  /**
   * As a watch shows it; undefined: it is gone. true: it is not as this agent left it, and has to be published again.
   */
  seen(node: SandboxNode | undefined): boolean {
    if (node !== undefined && node.metadata.resourceVersion === this.#node?.metadata.resourceVersion)
      return false;
    // What a watch shows may be behind a write of our own: it is read afresh.
    this.#node = undefined;
    return true;
  }

  async #publish(signal: AbortSignal): Promise<void> {
    const { client, clock, agent, step } = this.#options;
    const facts = [];
    for (const runtime of this.#options.runtimes) {
      facts.push({
        name: runtime.driver.name,
        answer: await runtime.ask({ signal }),
        probe: { ready: runtime.probe.probe !== undefined, why: runtime.probe.why },
      });
    }
    const kubelet = await this.#kubelet.read(signal);
    for (let tried = 1; ; tried += 1) {
      const node = this.#node ?? (await this.#ensure(signal));
      const status = nodeStatus(node.status, {
        agent,
        runtimes: facts,
        overlap: memoryOverlap(kubelet, node.spec?.reserved),
        now: clock.now(),
        generation: node.metadata.generation,
      });
      try {
        this.#node = await step('write-node', () =>
          writeStatus<SandboxNode>(client, SANDBOX_NODES, node, status, { signal }),
        );
        return;
      } catch (error) {
        this.#node = undefined;
        if (tried >= TRIES || !(isConflict(error) || isNotFound(error))) throw error;
      }
    }
  }

  async #ensure(signal: AbortSignal): Promise<SandboxNode> {
    const { client, nodeName, step } = this.#options;
    const ref = { name: nodeName };
    try {
      return await client.get<SandboxNode>(SANDBOX_NODES, ref, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    const reserved = await this.#reserved(signal);
    try {
      return await step('create-node', () =>
        client.create<SandboxNode>(
          SANDBOX_NODES,
          {
            apiVersion: API_VERSION,
            kind: 'SandboxNode',
            metadata: { name: nodeName },
            spec: Object.keys(reserved).length > 0 ? { reserved } : {},
          } as SandboxNode,
          { signal },
        ),
      );
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return client.get<SandboxNode>(SANDBOX_NODES, ref, { signal });
    }
  }

  async #reserved(signal: AbortSignal): Promise<NonNullable<SandboxNodeSpec['reserved']>> {
    const { reserve, reserveForKubelet } = this.#options;
    if (!reserveForKubelet) return reserve;
    return { ...givenByKubelet(await this.#kubelet.certain(signal)), ...reserve };
  }
}
