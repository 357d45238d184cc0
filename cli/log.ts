import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogConfig } from './config.ts';
import type { IO } from './io.ts';

/**
 * Logs go to standard error: one JSON object a line, or lines for people on a terminal. Written at once, so that the
 * last words of a process are not lost. Stack traces only at debug: the messages are to say enough.
 */
export async function makeLogger(config: LogConfig, io: IO): Promise<Logger> {
  const pretty = config.logFormat === 'pretty' || (config.logFormat === 'auto' && io.stderr.isTTY === true);
  const destination: DestinationStream = pretty
    ? await prettyStream(io)
    : { write: (line) => io.stderr.write(line) };
  const verbose = config.logLevel === 'debug' || config.logLevel === 'trace';
  return pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        ...(pretty && !verbose && { log: withErrorLine }),
      },
      serializers: { err: verbose ? pino.stdSerializers.err : briefError },
    },
    destination,
  );
}

async function prettyStream(io: IO): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    colorize: io.stderr.isTTY === true && !io.env['NO_COLOR'],
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname',
    singleLine: true,
    sync: true,
    destination: io.stderr,
  });
}

/** Type, message and codes of an error and its causes. */
function briefError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, reason, cause } = error as Error & { code?: unknown; reason?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(code !== undefined && { code }),
    ...(typeof reason === 'string' && reason !== '' && { reason }),
    ...(cause instanceof Error && { cause: briefError(cause) }),
  };
}

/** For people: what happened, and why, on the same line (pino-pretty spreads `err` over several). */
function withErrorLine(fields: Record<string, unknown>): Record<string, unknown> {
  const { err, ...rest } = fields;
  if (!(err instanceof Error)) return fields;
  const cause = err.cause instanceof Error ? err.cause.message : '';
  const known = cause === '' || err.message.includes(cause);
  return { ...rest, why: known ? err.message : `${err.message} (${cause})` };
}
