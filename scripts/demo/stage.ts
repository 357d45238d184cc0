import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DemoDaemon, findDaemon } from './daemon.ts';
import { holdfastUp, type Up } from './holdfast-up.ts';
import type { Kept } from './kept.ts';
import { Kubectl } from './kubectl.ts';
import { NODE, removeLeftovers } from './leftovers.ts';

type Report = (line: string) => void;

/** What the demo stands on: a folder, a Docker daemon and `holdfast up`; taken down in the other order. */
export class Stage {
  interrupted = false;
  // Short, and not in the repository: the path of a unix socket has at most 107 bytes.
  readonly #folder = mkdtempSync(join(tmpdir(), 'hf-demo-'));
  #daemon: DemoDaemon | undefined;
  #up: Up | undefined;
  #kubectl: Kubectl | undefined;

  get kubectl(): Kubectl {
    if (this.#kubectl === undefined) throw new Error('nothing is up yet');
    return this.#kubectl;
  }

  async setUp(report: Report): Promise<void> {
    this.#daemon = await findDaemon(this.#folder);
    report(this.#daemon.description);
    this.#check();
    this.#up = await holdfastUp(this.#folder, this.#daemon.api.socketPath);
    report(`holdfast up: API server, controller and node agent in one process (pid ${this.#up.pid})`);
    this.#check();
    this.#kubectl = new Kubectl(this.#up.kubeconfig);
    const version = JSON.parse(await this.#kubectl.run('version', '-o', 'json')) as {
      clientVersion: { gitVersion: string };
    };
    report(`kubectl ${version.clientVersion.gitVersion}, as released by Kubernetes`);
    await this.#kubectl.run('wait', '--for=create', `sandboxnode/${NODE}`, '--timeout=30s');
    await this.#kubectl.run('wait', '--for=condition=Ready', `sandboxnode/${NODE}`, '--timeout=30s');
  }

  /** Ends the step under way; the demo then takes itself down. */
  interrupt(): void {
    this.interrupted = true;
    this.#kubectl?.interrupt();
  }

  keep(): Kept {
    if (this.#daemon === undefined || this.#up === undefined) throw new Error('nothing is up yet');
    const { api, own } = this.#daemon;
    this.#up.detach();
    return {
      folder: this.#folder,
      pid: this.#up.pid,
      socketPath: api.socketPath,
      ownDaemon: own,
      kubeconfig: this.#up.kubeconfig,
    };
  }

  /** Every step is tried, whatever became of those before. */
  async tearDown(report: Report): Promise<void> {
    const tried = async (what: string, step: () => Promise<void>): Promise<void> => {
      try {
        await step();
      } catch (error) {
        report(`could not ${what}: ${error instanceof Error ? error.message : String(error)}`);
      }
    };
    const [daemon, up, kubectl] = [this.#daemon, this.#up, this.#kubectl];
    if (kubectl !== undefined)
      await tried('delete the sandboxes', async () => {
        await kubectl.run('delete', 'sandboxes', '--all', '--wait', '--timeout=60s');
        report('kubectl delete sandboxes --all: deleted, their containers removed');
      });
    if (up !== undefined) await tried('stop holdfast', () => up.stop());
    if (daemon !== undefined) {
      await tried('look for what is left', async () => report(await removeLeftovers(daemon.api)));
      await tried('take the daemon down', () => daemon.close());
    }
    await tried('remove the folder', () =>
      Promise.resolve(rmSync(this.#folder, { recursive: true, force: true })),
    );
  }

  #check(): void {
    if (this.interrupted) throw new Error('interrupted');
  }
}
