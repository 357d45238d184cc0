import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Sandbox } from '../crds/sandbox.ts';
import type { KubeClient, ObjectRef } from '../kube/client.ts';
import { isNotFound } from '../kube/errors.ts';
import { SANDBOXES } from '../kube/resources.ts';
import { type OutputPiece, readOutput } from '../runtime/agent/output/reader.ts';
import { agentDirIn, localSource } from './config.ts';
import { connect } from './connect.ts';
import { Failure } from './failure.ts';
import { type IO, write } from './io.ts';
import { untilGone } from './until-gone.ts';
import { type Line, lastLines, lines, Positions } from './output-lines.ts';

export interface LogsConfig {
  dataDir: string;
  kubeconfig?: string;
  context?: string;
  namespace?: string;
  follow?: boolean;
  setup?: boolean;
  stdout?: boolean;
  stderr?: boolean;
  timestamps?: boolean;
  tail?: number;
}

/** `holdfast logs`: what a sandbox of this machine has written. Its standard error goes to ours. */
export async function logs(name: string, config: LogsConfig, io: IO): Promise<void> {
  const source = localSource(config, io.env);
  const { client, namespace } = await connect(source, {
    component: 'holdfast-logs',
    ...(config.context !== undefined && { context: config.context }),
  });
  try {
    const ref = { namespace: config.namespace ?? namespace, name };
    const sandbox = await client.get<Sandbox>(SANDBOXES, ref, { signal: io.stop }).catch((error: unknown) => {
      if (isNotFound(error))
        throw new Failure(`there is no sandbox "${name}" in the namespace "${ref.namespace}"`);
      throw error;
    });
    const folder = source.from === 'files' ? agentFolder(config, source.files) : agentDirIn(config.dataDir);
    if (config.follow) await follow(sandbox, folder, { config, io, client, ref });
    else await copy(sandbox, folder, config, io);
  } finally {
    client.close();
  }
}

/** Ends with the output, with the sandbox, or when told to. */
async function follow(
  sandbox: Sandbox,
  folder: string,
  { config, io, client, ref }: { config: LogsConfig; io: IO; client: KubeClient; ref: ObjectRef },
): Promise<void> {
  const { uid = '' } = sandbox.metadata;
  if (!existsSync(path.join(folder, 'output', uid))) {
    await write(io.stderr, `holdfast: no output in ${folder} yet; waiting for it\n`);
  }
  const end = new AbortController();
  const stop = (): void => end.abort(io.stop.reason);
  io.stop.addEventListener('abort', stop, { once: true });
  if (io.stop.aborted) stop();
  const gone = untilGone({ client, ref, uid, signal: end.signal }).then(stop);
  try {
    await copy(sandbox, folder, config, { ...io, stop: end.signal });
  } finally {
    io.stop.removeEventListener('abort', stop);
    stop();
    await gone;
  }
}

async function copy(sandbox: Sandbox, folder: string, config: LogsConfig, io: IO): Promise<void> {
  const { uid = '', name } = sandbox.metadata;
  const launch = config.setup ? 'setup' : 'main';
  if (!config.follow && !existsSync(path.join(folder, 'output', uid))) {
    const node = sandbox.status?.nodeName;
    if (node === undefined)
      throw new Failure(`the sandbox "${name}" has not been launched: no node has it yet`);
    throw new Failure(
      `the sandbox "${name}" has no output in ${folder}; it is on the node "${node}": run this there, with that agent's --data-dir`,
    );
  }
  const wanted = config.stdout === config.stderr ? undefined : config.stdout ? 'stdout' : 'stderr';
  const read = (follow: boolean): AsyncIterable<OutputPiece> =>
    readOutput({ dataDir: folder, uid, launch, follow, signal: io.stop });
  const print = async (line: Line): Promise<void> =>
    await write(io[line.stream], shown(line, config.timestamps === true));
  if (config.tail === undefined) {
    await printAll(read(config.follow === true), {
      wanted,
      timestamps: config.timestamps === true,
      print,
      io,
    });
    return;
  }
  const reached = new Positions();
  for await (const line of lastLines(lines(reached.note(read(false)), wanted), config.tail))
    await print(line);
  if (!config.follow) return;
  await printAll(reached.after(read(true)), { wanted, timestamps: config.timestamps === true, print, io });
}

async function printAll(
  pieces: AsyncIterable<OutputPiece>,
  options: {
    wanted: OutputPiece['stream'] | undefined;
    timestamps: boolean;
    print: (line: Line) => Promise<void>;
    io: IO;
  },
): Promise<void> {
  if (options.timestamps) {
    for await (const line of lines(pieces, options.wanted)) await options.print(line);
    return;
  }
  // As it comes: a prompt without an end of line is to be seen too.
  for await (const { stream, data } of pieces) {
    if (options.wanted === undefined || options.wanted === stream) await write(options.io[stream], data);
  }
}

function shown(line: Line, timestamps: boolean): Buffer {
  if (!timestamps) return line.data;
  return Buffer.concat([Buffer.from(`${new Date(line.timeMs).toISOString()} `), line.data]);
}

/**
 * The agent's folder in the data folder, or, where that has none, beside the kubeconfig that is in use: it was then
 * written by an `up` with a data folder of its own.
 */
function agentFolder(config: LogsConfig, files: string[]): string {
  const folders = [agentDirIn(config.dataDir), ...files.map((file) => agentDirIn(path.dirname(file)))];
  return folders.toReversed().find((folder) => existsSync(folder)) ?? agentDirIn(config.dataDir);
}
