import { type Expansion, expandMain, expandSetup } from '../../../crds/expansion.ts';
import type { SandboxSpec } from '../../../crds/sandbox.ts';
import type { ImageInfo } from '../../driver.ts';

/** What a launch executes. */
export interface Command {
  argv: string[];
  /** NAME=VALUE, the whole environment. */
  env: string[];
  workingDir: string;
}

const DEFAULT_PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Kubernetes' rule: `command` replaces ENTRYPOINT and drops CMD; `args` alone replaces CMD. */
export function mainCommand(spec: SandboxSpec, image: ImageInfo): Command {
  const { env, command, args } = bounded(expandMain(spec));
  const argv =
    command.length > 0
      ? [...command, ...args]
      : [...image.entrypoint, ...(args.length > 0 ? args : image.command)];
  return { argv, env: environment(image, env), workingDir: workingDir(spec, image) };
}

export function setupCommand(spec: SandboxSpec, image: ImageInfo): Command {
  const { env, command } = bounded(expandSetup(spec));
  return {
    argv: command,
    env: environment(image, env),
    workingDir: spec.setup?.workingDir ?? workingDir(spec, image),
  };
}

/** A spec that is too long is refused long before anything is made for it. */
function bounded(expansion: Expansion): Exclude<Expansion, { tooLong: string }> {
  if ('tooLong' in expansion) throw new Error(`${expansion.tooLong}: too long once its variables are put in`);
  return expansion;
}

function workingDir(spec: SandboxSpec, image: ImageInfo): string {
  return spec.workingDir ?? (image.workingDir === '' ? '/' : image.workingDir);
}

/** That of the image under that of the spec. */
function environment(image: ImageInfo, own: ReadonlyMap<string, string>): string[] {
  const env = new Map<string, string>();
  for (const line of [DEFAULT_PATH, ...image.env]) {
    const at = line.indexOf('=');
    if (at > 0) env.set(line.slice(0, at), line.slice(at + 1));
  }
  for (const [name, value] of own) env.set(name, value);
  return [...env].map(([name, value]) => `${name}=${value}`);
}
