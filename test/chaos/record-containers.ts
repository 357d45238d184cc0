import { type ClientRequest, request } from 'node:http';
import { LABELS } from '../../runtime/agent/names.ts';
import type { ContainerEvent } from './history.ts';

const ACTIONS = ['create', 'start', 'die', 'destroy'] as const;

interface Event {
  Action: string;
  Actor: { ID: string; Attributes: Record<string, string> };
  timeNano: number;
}

/** Every event of every sandbox's container of one daemon, by the daemon's own word. */
export class ContainerRecorder {
  readonly events: ContainerEvent[] = [];
  readonly #call: ClientRequest;

  constructor(socketPath: string, node: string) {
    const filters = JSON.stringify({ type: ['container'], label: [`${LABELS.role}=sandbox`] });
    this.#call = request(
      { socketPath, path: `/events?filters=${encodeURIComponent(filters)}`, agent: false },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('error', () => {});
        answer.on('data', (chunk: string) => {
          text += chunk;
          for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n')) {
            this.#take(node, JSON.parse(text.slice(0, at)) as Event);
            text = text.slice(at + 1);
          }
        });
      },
    );
    this.#call.on('error', () => {});
    this.#call.end();
  }

  stop(): void {
    this.#call.destroy();
  }

  #take(node: string, { Action, Actor, timeNano }: Event): void {
    const action = ACTIONS.find((one) => one === Action);
    if (action === undefined) return;
    this.events.push({
      node,
      action,
      uid: Actor.Attributes[LABELS.uid] ?? '',
      id: Actor.ID,
      atMs: timeNano / 1e6,
    });
  }
}
