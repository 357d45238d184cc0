import type { Sandbox } from '../../crds/sandbox.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { SANDBOXES } from '../../kube/resources.ts';
import { until } from '../until.ts';

const NAMESPACE = 'default';

export function sandboxNamed(name: string, spec: Partial<Sandbox['spec']>): Sandbox {
  return {
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'Sandbox',
    metadata: { name, namespace: NAMESPACE },
    spec: { image: 'busybox:lab', resources: { memory: '16Mi' }, terminationGracePeriodSeconds: 1, ...spec },
  } as Sandbox;
}

export interface LoadResult {
  created: number;
  succeeded: number;
  /** What became of each that did not. */
  others: string[];
  uids: string[];
}

/** Sandboxes that come at a rate, each of which has to end by itself and to go when it is deleted. */
export class Load {
  readonly #client: KubeClient;
  readonly #lives: Promise<void>[] = [];
  readonly #result: LoadResult = { created: 0, succeeded: 0, others: [], uids: [] };
  #timer: NodeJS.Timeout | undefined;
  #next = 0;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  get succeeded(): number {
    return this.#result.succeeded;
  }

  begin(perSecond: number): void {
    this.#timer = setInterval(() => {
      this.#next += 1;
      this.#lives.push(this.#live(`short-${this.#next}`));
    }, 1000 / perSecond);
  }

  /** No more come; resolves when all that have are gone. */
  async end(): Promise<LoadResult> {
    clearInterval(this.#timer);
    await Promise.all(this.#lives);
    return this.#result;
  }

  async #live(name: string): Promise<void> {
    const ref = { namespace: NAMESPACE, name };
    const made = await this.#client.create(SANDBOXES, sandboxNamed(name, { command: ['true'] }));
    this.#result.created += 1;
    this.#result.uids.push(made.metadata.uid ?? '');
    const read = (): Promise<Sandbox> => this.#client.get<Sandbox>(SANDBOXES, ref);
    try {
      const ended = await until(
        `the end of ${name}`,
        async () => {
          const now = await read();
          return now.status?.conditions?.find(({ type, status }) => type === 'Complete' && status === 'True');
        },
        { everyMs: 500, withinMs: 180_000, seen: async () => (await read()).status },
      );
      if (ended.reason === 'Succeeded') this.#result.succeeded += 1;
      else this.#result.others.push(`${name}: ${ended.reason}: ${ended.message}`);
      await this.#client.delete(SANDBOXES, ref);
      await until(
        `${name} to be gone`,
        () =>
          read().then(
            () => undefined,
            (error: unknown) => {
              if (isNotFound(error)) return true;
              throw error;
            },
          ),
        { everyMs: 500, withinMs: 180_000 },
      );
    } catch (error) {
      this.#result.others.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
