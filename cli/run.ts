import { CommanderError } from 'commander';
import { EXIT } from './exit-codes.ts';
import { explain } from './failure.ts';
import { type IO, write } from './io.ts';
import { makeProgram } from './program.ts';

/** Runs one command line and answers its exit code. Whatever goes wrong is one line on standard error. */
export async function run(args: readonly string[], io: IO): Promise<number> {
  const program = makeProgram(io);
  for (const command of [program, ...program.commands]) {
    command.exitOverride();
    command.configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => helpWidth(io.stdout),
      getErrHelpWidth: () => helpWidth(io.stderr),
      outputError: (text, out) => out(text.replace(/^error: /, 'holdfast: ')),
    });
  }
  try {
    if (args.length === 0) {
      program.outputHelp({ error: true });
      return EXIT.usage;
    }
    await program.parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    // Commander has said what it had to say.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (io.stop.aborted && isStop(error, io.stop)) return EXIT.ok;
    // `holdfast logs X | head` is no failure.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return EXIT.ok;
    await write(io.stderr, `holdfast: ${explain(error)}\n`).catch(() => {});
    return EXIT.failure;
  }
}

/** That of the terminal; elsewhere always the same, so that the documentation can have it. */
function helpWidth(stream: IO['stdout']): number {
  return Math.min(stream.isTTY ? (stream.columns ?? 100) : 100, 120);
}

function isStop(error: unknown, stop: AbortSignal): boolean {
  return error === stop.reason || (error instanceof Error && error.name === 'AbortError');
}
