import type { EnvVar, SandboxSpec } from '../../../crds/sandbox.ts';
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
  const command = spec.command ?? [];
  const args = spec.args ?? [];
  const argv =
    command.length > 0
      ? [...command, ...args]
      : [...image.entrypoint, ...(args.length > 0 ? args : image.command)];
  return { argv: expandAll(argv, spec.env ?? []), ...surroundings(spec, image, []) };
}

export function setupCommand(spec: SandboxSpec, image: ImageInfo): Command {
  const setup = spec.setup;
  const extra = setup?.env ?? [];
  const command = setup?.command ?? [];
  const base = surroundings(spec, image, extra);
  return {
    argv: expandAll(command, [...(spec.env ?? []), ...extra]),
    env: base.env,
    workingDir: setup?.workingDir ?? base.workingDir,
  };
}

function surroundings(spec: SandboxSpec, image: ImageInfo, extra: EnvVar[]): Omit<Command, 'argv'> {
  const env = new Map<string, string>();
  for (const line of [DEFAULT_PATH, ...image.env]) {
    const at = line.indexOf('=');
    if (at > 0) env.set(line.slice(0, at), line.slice(at + 1));
  }
  const own = new Map<string, string>();
  for (const variable of [...(spec.env ?? []), ...extra]) {
    own.set(variable.name, expand(variable.value ?? '', own));
  }
  for (const [name, value] of own) env.set(name, value);
  return {
    env: [...env].map(([name, value]) => `${name}=${value}`),
    workingDir: spec.workingDir ?? (image.workingDir === '' ? '/' : image.workingDir),
  };
}

function expandAll(argv: string[], variables: EnvVar[]): string[] {
  const own = new Map<string, string>();
  for (const variable of variables) own.set(variable.name, expand(variable.value ?? '', own));
  return argv.map((word) => expand(word, own));
}

/** Kubernetes' $(NAME); $$ is a dollar sign; an unknown name stays as it is. */
function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)/g, (whole, name: string | undefined) => {
    if (whole === '$$') return '$';
    return (name === undefined ? undefined : variables.get(name)) ?? whole;
  });
}
