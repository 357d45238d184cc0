import process from 'node:process';
import { EXIT } from './exit-codes.ts';
import { explain } from './failure.ts';
import { run } from './run.ts';
import { stopOnSignals } from './signals.ts';

const { stop } = stopOnSignals({
  process,
  onFirst: () => {
    if (process.stderr.isTTY) process.stderr.write('\nStopping; once more to end at once.\n');
  },
});
process.on('uncaughtException', (error) => {
  process.stderr.write(`holdfast: a fault of its own: ${explain(error)}\n`);
  process.exit(EXIT.failure);
});
// A reader that went away (`holdfast logs X | head`) is told to the writer; as an event of its own it is nothing.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const { stdout, stderr, env } = process;
process.exitCode = await run(process.argv.slice(2), { stdout, stderr, env, stop });
// What a command leaves open (a keep-alive socket, a signal handler) must not hold the process.
process.exit();
