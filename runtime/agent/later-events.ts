import type { EventReason } from '../../crds/conditions.ts';
import type { CancelTimer, Clock } from '../../kube/clock.ts';
import type { EventRecorder, EventSubject } from '../../kube/events.ts';

/** How long good news waits. */
const LATER_MS = 250;

/**
 * Events that everything is as it should be can wait until the launch they tell of is over: on one machine each is
 * a write to the disk that the launch itself is waiting for. Warnings do not wait.
 */
export class LaterEvents {
  readonly #events: EventRecorder;
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #cancel: CancelTimer | undefined;

  constructor(events: EventRecorder, clock: Clock) {
    this.#events = events;
    this.#clock = clock;
  }

  record(subject: EventSubject, type: 'Normal' | 'Warning', reason: EventReason, message: string): void {
    if (type === 'Warning') {
      // What happened before is told before.
      this.flush();
      this.#events.record(subject, type, reason, message);
      return;
    }
    this.#waiting.push(() => this.#events.record(subject, type, reason, message));
    this.#cancel ??= this.#clock.setTimer(LATER_MS, () => this.flush());
  }

  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const tell of this.#waiting.splice(0)) tell();
  }
}
