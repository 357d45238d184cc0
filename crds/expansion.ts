import type { EnvVar, SandboxSpec } from './sandbox.ts';

/**
 * What a launch is given in all, once variables were put in: environment and arguments together. The kernel refuses
 * about twice as much. Values that name each other can double with every line, so it is counted while they are put
 * in, never afterwards.
 */
export const EXPANDED_MAX_BYTES = 1024 * 1024;

/** `env` has the variables of the spec alone, the last of a name; `tooLong`: the field at which it was too much. */
export type Expansion = { env: Map<string, string>; command: string[]; args: string[] } | { tooLong: string };

/** Kubernetes' $(NAME) in the variables, `command` and `args` of the main command. */
export function expandMain({ env, command, args }: Pick<SandboxSpec, 'env' | 'command' | 'args'>): Expansion {
  return expandAll([['spec.env', env]], ['spec.command', command], ['spec.args', args]);
}

/** The same for setup, which has its own variables over those of the sandbox. */
export function expandSetup({ env, setup }: Pick<SandboxSpec, 'env' | 'setup'>): Expansion {
  return expandAll(
    [
      ['spec.env', env],
      ['spec.setup.env', setup?.env],
    ],
    ['spec.setup.command', setup?.command],
  );
}

type Words = [field: string, words: string[] | undefined];

function expandAll(
  variables: [field: string, variables: EnvVar[] | undefined][],
  command: Words,
  args: Words = ['', []],
): Expansion {
  const env = new Map<string, string>();
  let leftBytes = EXPANDED_MAX_BYTES;
  /** A variable sees those before it; undefined: too long. */
  const take = (text: string, more: number): string | undefined => {
    const expanded = expand(text, env, leftBytes - more);
    leftBytes -= more + (expanded === undefined ? Infinity : Buffer.byteLength(expanded));
    return leftBytes < 0 ? undefined : expanded;
  };
  for (const [field, list] of variables) {
    for (const [i, { name, value }] of (list ?? []).entries()) {
      const expanded = take(value ?? '', Buffer.byteLength(name) + 1);
      if (expanded === undefined) return { tooLong: `${field}[${i}].value` };
      env.set(name, expanded);
    }
  }
  const words: string[][] = [];
  for (const [field, list] of [command, args]) {
    const done: string[] = [];
    for (const [i, word] of (list ?? []).entries()) {
      const expanded = take(word, 0);
      if (expanded === undefined) return { tooLong: `${field}[${i}]` };
      done.push(expanded);
    }
    words.push(done);
  }
  return { env, command: words[0] ?? [], args: words[1] ?? [] };
}

const REFERENCE = /\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)/g;

/** $$ is a dollar sign; an unknown name stays as it is. undefined: longer than `most`. */
function expand(text: string, variables: ReadonlyMap<string, string>, most: number): string | undefined {
  let done = '';
  let at = 0;
  for (const match of text.matchAll(REFERENCE)) {
    const [whole, name] = match;
    const value = whole === '$$' ? '$' : (variables.get(name ?? '') ?? whole);
    done += text.slice(at, match.index) + value;
    at = match.index + whole.length;
    // Characters are never more than bytes: enough to stop in time.
    if (done.length > most) return undefined;
  }
  return done + text.slice(at);
}
