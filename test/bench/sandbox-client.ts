import type { Sandbox } from '../../crds/sandbox.ts';
import type { KubeClient } from '../../kube/client.ts';
import { SANDBOXES } from '../../kube/resources.ts';

const NAMESPACE = 'default';
const DEADLINE_MS = 60_000;

export type Resources = Record<string, string | number>;

/** Creates sandboxes and sees what becomes of them through one watch, as a user's program would. */
export class SandboxClient {
  readonly #client: KubeClient;
  readonly #image: string;
  readonly #stop = new AbortController();
  readonly #waiting = new Map<
    string,
    { ready?: () => void; gone?: () => void; failed: (error: Error) => void }
  >();
  #made = 0;

  constructor(client: KubeClient, image: string) {
    this.#client = client;
    this.#image = image;
  }

  async start(): Promise<void> {
    const { resourceVersion } = await this.#client.list(SANDBOXES, { namespace: NAMESPACE });
    void this.#watch(resourceVersion);
  }

  close(): void {
    this.#stop.abort();
  }

  /** POST until `Ready=True` of all of them was seen by the watch. */
  async launch(count: number, resources: Resources): Promise<{ tookMs: number; names: string[] }> {
    const names = Array.from({ length: count }, () => `bench-${this.#made++}`);
    const startedMs = performance.now();
    await Promise.all(names.map((name) => this.#launchOne(name, resources)));
    return { tookMs: performance.now() - startedMs, names };
  }

  async remove(names: string[]): Promise<void> {
    await Promise.all(
      names.map(async (name) => {
        const gone = new Promise<void>((resolve, reject) =>
          this.#waiting.set(name, { gone: resolve, failed: reject }),
        );
        await this.#client.delete(SANDBOXES, { namespace: NAMESPACE, name });
        await withDeadline(gone, `${name} was not removed`);
      }),
    );
  }

  async #launchOne(name: string, resources: Resources): Promise<void> {
    const ready = new Promise<void>((resolve, reject) =>
      this.#waiting.set(name, { ready: resolve, failed: reject }),
    );
    await this.#client.create<Sandbox>(SANDBOXES, {
      apiVersion: 'holdfast.dev/v1alpha1',
      kind: 'Sandbox',
      metadata: { namespace: NAMESPACE, name },
      spec: {
        image: this.#image,
        command: ['sh', '-c', 'echo ready; exec sleep 3600'],
        resources,
        terminationGracePeriodSeconds: 0,
        onNodeLoss: 'Keep',
        onDrift: 'Report',
      },
    });
    await withDeadline(ready, `${name} did not become Ready`);
  }

  async #watch(from: string): Promise<void> {
    try {
      const events = this.#client.watch<Sandbox>(SANDBOXES, {
        namespace: NAMESPACE,
        resourceVersion: from,
        signal: this.#stop.signal,
        timeoutSeconds: 3600,
      });
      for await (const event of events) {
        if (event.type === 'ERROR') throw new Error(event.object.message ?? 'the watch failed');
        this.#see(event.type, event.object);
      }
      if (!this.#stop.signal.aborted) throw new Error('the watch ended');
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      for (const { failed } of this.#waiting.values())
        failed(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #see(type: string, sandbox: Sandbox): void {
    const waiting = this.#waiting.get(sandbox.metadata.name);
    if (waiting === undefined) return;
    const of = (wanted: string) => sandbox.status?.conditions?.find((condition) => condition.type === wanted);
    if (type === 'DELETED') waiting.gone?.();
    else if (of('Ready')?.status === 'True') waiting.ready?.();
    else if (of('Stalled')?.status === 'True')
      waiting.failed(new Error(`${sandbox.metadata.name} stalled: ${of('Stalled')?.message ?? ''}`));
  }
}

/** Nothing that is measured comes near it: a benchmark that cannot go on must say so and end. */
async function withDeadline(work: Promise<void>, what: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} within ${DEADLINE_MS / 1000} s`)), DEADLINE_MS);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
