import type { ServerAnswer } from './connection.ts';

/** Each takes about twice as much memory as it has bytes. */
const MAX_BYTES = 128 * 1024 * 1024;

type Answer = Pick<ServerAnswer, 'writableLength' | 'destroy'>;

/**
 * Answers on their way. A few hundred long lists that nobody reads would be all the memory there is, so the ones that
 * have waited longest are broken off; the newest never is, however long.
 */
export class UnreadAnswers {
  readonly #answers = new Map<Answer, number>();
  #bytes = 0;

  add(answer: Answer): void {
    const bytes = answer.writableLength;
    this.#answers.set(answer, bytes);
    this.#bytes += bytes;
    for (const [oldest] of this.#answers) {
      if (this.#bytes <= MAX_BYTES || oldest === answer) return;
      this.remove(oldest);
      oldest.destroy();
    }
  }

  remove(answer: Answer): void {
    this.#bytes -= this.#answers.get(answer) ?? 0;
    this.#answers.delete(answer);
  }
}
