import type { Sandbox, SandboxSpec } from '../../crds/sandbox.ts';
import { sandboxSpec } from '../../controller/testing/objects.ts';
import { ApiError, type KubeClient } from '../../kube/client.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import { SANDBOXES } from '../../kube/resources.ts';
import type { Acknowledged, Expected } from './history.ts';
import type { SandboxKind, Step } from './plan.ts';

const NAMESPACE = 'default';
const AGAIN_MS = 100;
type UserStep = Extract<Step, { name: string }>;

/** Does what the plan says of Sandboxes, insists until the server has said yes, and knows what must come of it. */
export class User {
  readonly acknowledged: Acknowledged[] = [];
  /** By `namespace/name`. */
  readonly expected = new Map<string, Expected>();
  readonly #client: KubeClient;
  readonly #kinds = new Map<string, { kind: SandboxKind; onNodeLoss: 'Keep' | 'Replace' }>();
  /** What was asked of one name is done in the order of asking. */
  readonly #lines = new Map<string, Promise<void>>();
  #gaveUp = false;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Does not wait. */
  begin(step: UserStep): void {
    const before = this.#lines.get(step.name) ?? Promise.resolve();
    this.#lines.set(
      step.name,
      before.then(() => this.#do(step)),
    );
  }

  /** Until all of it has been acknowledged. */
  async done(): Promise<void> {
    await Promise.all(this.#lines.values());
  }

  /** Whatever is still insisted on is left. */
  giveUp(): void {
    this.#gaveUp = true;
  }

  async #do(step: UserStep): Promise<void> {
    const { name } = step;
    switch (step.do) {
      case 'create':
        this.#kinds.set(name, step);
        return this.#create(name);
      case 'delete':
        return this.#delete(name);
      case 'replace':
        await this.#delete(name);
        return this.#create(name);
      case 'suspend':
        this.expected.set(keyOf(name), 'Suspended');
        return this.#edit(name, 'suspend', { suspend: true });
      case 'resume':
        this.expected.set(keyOf(name), 'Ready');
        return this.#edit(name, 'resume', { suspend: false });
      case 'resize':
        return this.#edit(name, 'resize', { resources: { cpu: '200m', memory: '48Mi', pids: 48 } });
    }
  }

  async #create(name: string): Promise<void> {
    const { kind, onNodeLoss } = this.#kinds.get(name) ?? { kind: 'job', onNodeLoss: 'Keep' };
    this.expected.set(keyOf(name), EXPECTED[kind]);
    await this.#insist(`create ${name}`, () =>
      this.#client
        .create<Sandbox>(SANDBOXES, {
          apiVersion: 'holdfast.dev/v1alpha1',
          kind: 'Sandbox',
          metadata: { namespace: NAMESPACE, name },
          spec: { ...specOf(kind), onNodeLoss },
        })
        .catch((error: unknown) => {
          // An earlier try may have got through: its name was free when this began.
          if (isAlreadyExists(error))
            return this.#client.get<Sandbox>(SANDBOXES, { namespace: NAMESPACE, name });
          throw error;
        }),
    );
  }

  async #delete(name: string): Promise<void> {
    this.expected.set(keyOf(name), 'gone');
    const ref = { namespace: NAMESPACE, name };
    await this.#insist(`delete ${name}`, async () => {
      await this.#client.delete(SANDBOXES, ref).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      return undefined;
    });
    await this.#insist(`end of ${name}`, async () => {
      const there = await this.#client.get(SANDBOXES, ref).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      if (there !== undefined) throw new StillThere();
      return undefined;
    });
  }

  async #edit(name: string, what: string, spec: Partial<SandboxSpec>): Promise<void> {
    const ref = { namespace: NAMESPACE, name };
    await this.#insist(`${what} ${name}`, () =>
      this.#client.patch<Sandbox>(SANDBOXES, ref, { spec }, { type: 'merge' }),
    );
  }

  async #insist(what: string, call: () => Promise<Sandbox | undefined>): Promise<void> {
    while (!this.#gaveUp) {
      try {
        const written = await call();
        const { uid, resourceVersion } = written?.metadata ?? {};
        if (resourceVersion !== undefined)
          this.acknowledged.push({ who: 'user', what, uid, resourceVersion });
        return;
      } catch (error) {
        if (error instanceof ApiError && [400, 404, 422].includes(error.code)) throw error;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }
}

class StillThere extends Error {}

const EXPECTED: Record<SandboxKind, Expected> = {
  retained: 'Ready',
  job: 'Succeeded',
  'failing job': 'Failed',
};

function keyOf(name: string): string {
  return `${NAMESPACE}/${name}`;
}

function specOf(kind: SandboxKind): SandboxSpec {
  const resources = { cpu: '100m', memory: '32Mi', pids: 32 };
  const base = sandboxSpec({ image: 'busybox:lab', resources, terminationGracePeriodSeconds: 1 });
  if (kind === 'retained') return base;
  return { ...base, command: ['sh', '-c', kind === 'job' ? 'sleep 1' : 'sleep 1; exit 3'] };
}
