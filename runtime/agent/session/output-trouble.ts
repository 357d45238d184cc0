import type { Launch } from '../output/frame.ts';
import type { OutputTrouble } from '../output/keep-going.ts';
import type { Run } from '../run.ts';
import { subjectOf } from '../sandbox/subject.ts';
import type { Services } from '../services.ts';

const WHOSE: Record<Launch, string> = { setup: 'the setup command', main: 'the command' };

/** The user hears that output is missing, and why; the same words each time, so that they are counted up. */
export function outputTrouble({ events, log }: Services, run: Run, launch: Launch): OutputTrouble {
  const { uid } = run;
  const say = (message: string): void =>
    events.record(subjectOf(run, undefined), 'Warning', 'Failed', message);
  return {
    lost: (error, retryInMs) => {
      log.warn({ err: error, uid, launch, retryInMs }, 'output cannot be written: it is dropped');
      const why = error instanceof Error ? error.message : String(error);
      say(
        `Output of ${WHOSE[launch]} cannot be written and is dropped; it runs on, and it is tried again: ${why}`,
      );
    },
    back: (lostBytes) => {
      log.warn({ uid, launch, lostBytes }, 'output is written again');
      say(`Output of ${WHOSE[launch]} is written again; ${lostBytes} bytes of it were lost.`);
    },
  };
}
