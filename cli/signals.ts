import { EXIT } from './exit-codes.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * The first of these signals asks to stop, the second ends the process at once. `release` puts things back.
 */
export function stopOnSignals(options: {
  process: Pick<NodeJS.Process, 'on' | 'off' | 'exit'>;
  onFirst?: (signal: NodeJS.Signals) => void;
}): { stop: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const heard = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      options.process.exit(EXIT.interrupted);
      return;
    }
    options.onFirst?.(signal);
    controller.abort(new Error(`stopped by ${signal}`));
  };
  for (const signal of SIGNALS) options.process.on(signal, heard);
  return {
    stop: controller.signal,
    release: () => {
      for (const signal of SIGNALS) options.process.off(signal, heard);
    },
  };
}
