import { createHash } from 'node:crypto';
import { hasErrors, limitsOf } from './limits.ts';
import type { EnvVar, SandboxSpec } from './sandbox.ts';

/** Neither command nor arguments: held open for processes, instead of run to completion. */
export function isRetained(spec: Pick<SandboxSpec, 'command' | 'args'>): boolean {
  return (spec.command ?? []).length === 0 && (spec.args ?? []).length === 0;
}

/**
 * Identity of the container that a spec needs: another value means another container (K11). What is written in two
 * ways and means the same (an absent field and its default, an empty list and none) has one hash. 32 hex digits.
 *
 * Left out: what never restarts anything (suspend, TTL, deadline, grace period, node selector, network lists,
 * policies) and `resources`, whose changes are applied in place.
 */
export function specHash(spec: SandboxSpec): string {
  return hash({
    runtime: spec.runtime,
    image: spec.image,
    imagePullPolicy: effectivePullPolicy(spec),
    imagePullSecrets: listOf(spec.imagePullSecrets),
    command: listOf(spec.command),
    args: listOf(spec.args),
    env: environment(spec.env),
    workingDir: spec.workingDir,
    user: spec.user,
    readOnlyRootFilesystem: spec.readOnlyRootFilesystem === true ? true : undefined,
    networkMode: spec.network?.mode === 'none' ? undefined : spec.network?.mode,
    workspacePath: spec.workspace?.path ?? '/workspace',
    setup: spec.setup && {
      command: spec.setup.command,
      env: environment(spec.setup.env),
      workingDir: spec.setup.workingDir,
      timeoutSeconds: spec.setup.timeoutSeconds,
    },
    init: spec.init === false ? false : undefined,
  });
}

/**
 * Identity of the limits: "500m" and "0.5" are the same, and so are `{}` and nothing (L2). Limits that are refused
 * have the identity of their text, so that correcting them is a change.
 */
export function limitsHash(spec: Pick<SandboxSpec, 'resources'>): string {
  const limits = limitsOf(spec);
  return hash(hasErrors(limits) ? { refused: spec.resources } : limits);
}

/** Always for the tag `latest` or no tag, else IfNotPresent; an image named by digest has no tag to move. */
export function effectivePullPolicy(
  spec: Pick<SandboxSpec, 'image' | 'imagePullPolicy'>,
): 'Always' | 'IfNotPresent' | 'Never' {
  if (spec.imagePullPolicy !== undefined) return spec.imagePullPolicy;
  if (spec.image.includes('@')) return 'IfNotPresent';
  const tag = /:([^/:]+)$/.exec(spec.image)?.[1];
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function listOf<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list;
}

/** An absent value is an empty one, as in a Pod. */
function environment(env: readonly EnvVar[] | undefined): unknown {
  return listOf(
    (env ?? []).map((variable) =>
      variable.valueFrom === undefined
        ? { name: variable.name, value: variable.value ?? '' }
        : { name: variable.name, valueFrom: variable.valueFrom },
    ),
  );
}

function hash(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 32);
}

/** JSON with sorted keys and nothing undefined. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`);
    return `{${entries.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
