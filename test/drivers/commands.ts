import { createHash } from 'node:crypto';
import type { ContainerSpec } from '../../runtime/driver.ts';
import type { FakeProgram } from '../../runtime/drivers/fake/container.ts';

/** What the contract suite runs: by busybox in a real container, and by these few lines in the fake. */
export interface Command {
  argv: string[];
  fake: FakeProgram;
}

const sh = (script: string): string[] => ['/bin/busybox', 'sh', '-c', script];
const ended = (signal: AbortSignal): Promise<number> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(137), { once: true });
  });

export function exit(code: number): Command {
  return { argv: sh(`exit ${code}`), fake: () => Promise.resolve(code) };
}

export const cat: Command = {
  argv: ['/bin/busybox', 'cat'],
  fake: async ({ stdin, stdout }) => {
    for await (const chunk of stdin) stdout.write(chunk);
    return 0;
  },
};

/** Ignores SIGTERM, as PID 1 does. */
export const sleep: Command = {
  argv: ['/bin/busybox', 'sleep', '3600'],
  fake: ({ killed }) => ended(killed),
};

export const outAndErr: Command = {
  argv: sh('echo out; echo err >&2'),
  fake: ({ stdout, stderr }) => {
    stdout.write('out\n');
    stderr.write('err\n');
    return Promise.resolve(0);
  },
};

/** Says "ready", then ends with 7 at SIGTERM. */
export const polite: Command = {
  argv: sh('trap "exit 7" TERM; echo ready; while :; do sleep 0.1; done'),
  fake: (process) => {
    process.stdout.write('ready\n');
    return Promise.race([
      ended(process.killed),
      new Promise<number>((resolve) => {
        process.onSignal((signal) => {
          if (signal === 'SIGTERM') resolve(7);
        });
      }),
    ]);
  },
};

export const FLOOD_BYTES = 16 * 1024 * 1024;
const floodLine = Buffer.from('0123456789abcdef'.repeat(4096));
export const floodHash = ((): string => {
  const hash = createHash('sha256');
  for (let bytes = 0; bytes < FLOOD_BYTES; bytes += floodLine.length) hash.update(floodLine);
  return hash.digest('hex');
})();

/** 16 MiB of a known text, as fast as they are taken, and stderr in between. */
export const flood: Command = {
  argv: sh(
    'l=0123456789abcdef; i=0; while [ $i -lt 12 ]; do l=$l$l; i=$((i+1)); done; i=0; while [ $i -lt 256 ]; do echo -n $l; [ $i = 128 ] && echo half >&2; i=$((i+1)); done; exit 0',
  ),
  fake: async ({ stdout, stderr }) => {
    for (let line = 0; line < FLOOD_BYTES / floodLine.length; line++) {
      if (line === 128) stderr.write('half\n');
      if (!stdout.write(floodLine)) await new Promise((resolve) => stdout.once('drain', resolve));
    }
    return 0;
  },
};

export const missing: Command = { argv: ['/no/such/command'], fake: () => Promise.resolve(127) };

const known = [exit(0), exit(3), exit(137), cat, sleep, outAndErr, polite, flood];

/** The fake's answer to a spec of the suite. */
export function fakeProgram(spec: ContainerSpec): FakeProgram | undefined {
  const argv = JSON.stringify([...spec.entrypoint, ...spec.command]);
  return known.find((command) => JSON.stringify(command.argv) === argv)?.fake;
}
