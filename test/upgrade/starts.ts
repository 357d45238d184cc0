import { request } from 'node:http';

interface DaemonEvent {
  Action?: string;
  Actor?: { Attributes?: Record<string, string> };
}

/** Counts the starts of containers by the UID of their sandbox, as the daemon tells them: nobody else's word. */
export class Starts {
  readonly of = new Map<string, number>();
  readonly #end: () => void;

  private constructor(end: () => void) {
    this.#end = end;
  }

  static async follow(socketPath: string): Promise<Starts> {
    return new Promise((resolve, reject) => {
      const filters = encodeURIComponent(JSON.stringify({ type: ['container'], event: ['start'] }));
      const sent = request({ socketPath, path: `/events?filters=${filters}` }, (answer) => {
        const starts = new Starts(() => sent.destroy());
        let rest = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          const lines = (rest + chunk).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) starts.#take(JSON.parse(line) as DaemonEvent);
        });
        answer.on('error', () => {});
        resolve(starts);
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  stop(): void {
    this.#end();
  }

  #take(event: DaemonEvent): void {
    const uid = event.Actor?.Attributes?.['holdfast.dev/uid'];
    if (uid !== undefined) this.of.set(uid, (this.of.get(uid) ?? 0) + 1);
  }
}
