import type { Reason } from './conditions.ts';
import { EXPANDED_MAX_BYTES, expandMain, expandSetup } from './expansion.ts';
import { describeErrors } from './field-error.ts';
import { IMAGE_ACCEPTED, isImageReference } from './image-reference.ts';
import { hasErrors, limitsOf } from './limits.ts';
import { shown } from './quantity.ts';
import { DOT_PART, RESERVED_PATH, WORKSPACE_PATH_ACCEPTED } from './rules.ts';
import type { SandboxSpec } from './sandbox.ts';
import { schemaErrors } from './schema-errors.ts';

const reservedPath = new RegExp(RESERVED_PATH);
const dotPart = new RegExp(DOT_PART);

/** Why a spec can be given to no node at all, whatever becomes of the nodes. */
export interface SpecProblem {
  reason: Extract<Reason, 'InvalidSpec' | 'NetworkUnsupported' | 'NotSupported'>;
  field: string;
  message: string;
}

/**
 * The first thing in a spec that contradicts itself or that this version does not do: never ignored, never half
 * done. The schema refuses most contradictions already; what came past it (an older schema, a write to the store)
 * is refused here.
 */
export function specProblem(spec: SandboxSpec): SpecProblem | undefined {
  for (const check of checks) {
    const problem = check(spec);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const checks: readonly ((spec: SandboxSpec) => SpecProblem | undefined)[] = [
  limits,
  schema,
  image,
  setupWithoutInit,
  valueAndSource,
  expansion,
  workspacePath,
  networkLists,
  networkMode,
  secrets,
  pullSecrets,
  withoutInit,
  drift,
];

function limits(spec: SandboxSpec): SpecProblem | undefined {
  const result = limitsOf(spec);
  if (!hasErrors(result)) return undefined;
  return {
    reason: 'InvalidSpec',
    field: result.errors[0]?.field ?? 'spec.resources',
    message: describeErrors(result.errors),
  };
}

function schema(spec: SandboxSpec): SpecProblem | undefined {
  const errors = schemaErrors(spec);
  if (errors[0] === undefined) return undefined;
  return { reason: 'InvalidSpec', field: errors[0].field, message: describeErrors(errors) };
}

/** A pull of it would be tried again for good. */
function image(spec: SandboxSpec): SpecProblem | undefined {
  if (isImageReference(spec.image)) return undefined;
  const field = 'spec.image';
  return {
    reason: 'InvalidSpec',
    field,
    message: `${field}: ${shown(spec.image)} is refused; accepted: ${IMAGE_ACCEPTED}`,
  };
}

function setupWithoutInit(spec: SandboxSpec): SpecProblem | undefined {
  if (spec.setup === undefined || spec.init !== false) return undefined;
  return {
    reason: 'InvalidSpec',
    field: 'spec.setup',
    message: 'spec.setup needs init: remove spec.setup, or leave spec.init out',
  };
}

function valueAndSource(spec: SandboxSpec): SpecProblem | undefined {
  for (const [field, variable] of variables(spec)) {
    if (variable.value === undefined || variable.valueFrom === undefined) continue;
    return {
      reason: 'InvalidSpec',
      field,
      message: `${field}: value and valueFrom exclude each other: give one of them`,
    };
  }
  return undefined;
}

/** Values that name each other grow beyond what any program can be given, or any agent could hold. */
function expansion(spec: SandboxSpec): SpecProblem | undefined {
  for (const made of [expandMain(spec), expandSetup(spec)]) {
    if (!('tooLong' in made)) continue;
    const field = made.tooLong;
    return {
      reason: 'InvalidSpec',
      field,
      message: `${field}: with $(NAME) replaced by the values, variables and arguments come to more than is accepted: ${EXPANDED_MAX_BYTES} bytes in all`,
    };
  }
  return undefined;
}

function workspacePath(spec: SandboxSpec): SpecProblem | undefined {
  const path = spec.workspace?.path;
  if (path === undefined || (!reservedPath.test(path) && !dotPart.test(path))) return undefined;
  const field = 'spec.workspace.path';
  return {
    reason: 'InvalidSpec',
    field,
    message: `${field}: ${shown(path)} is refused; accepted: ${WORKSPACE_PATH_ACCEPTED}`,
  };
}

function networkLists(spec: SandboxSpec): SpecProblem | undefined {
  for (const phase of ['setup', 'runtime'] as const) {
    const allow = spec.network?.[phase]?.allow ?? [];
    if (allow.length === 0) continue;
    const field = `spec.network.${phase}.allow`;
    return {
      reason: 'NetworkUnsupported',
      field,
      message: `${field}: ${JSON.stringify(allow).slice(0, 200)} cannot be granted by this version; leave the list empty (no network)`,
    };
  }
  return undefined;
}

function networkMode(spec: SandboxSpec): SpecProblem | undefined {
  const mode = spec.network?.mode;
  if (mode === undefined || mode === 'none') return undefined;
  return {
    reason: 'NetworkUnsupported',
    field: 'spec.network.mode',
    message: `spec.network.mode: "${mode}" is not supported by this version; accepted: none`,
  };
}

function secrets(spec: SandboxSpec): SpecProblem | undefined {
  for (const [field, variable] of variables(spec)) {
    if (variable.valueFrom !== undefined)
      return notSupported(`${field}.valueFrom`, 'secrets', 'give the value itself');
  }
  return undefined;
}

function pullSecrets(spec: SandboxSpec): SpecProblem | undefined {
  if ((spec.imagePullSecrets ?? []).length === 0) return undefined;
  return notSupported(
    'spec.imagePullSecrets',
    'secrets for a registry',
    'pull the image onto the node, and leave it out',
  );
}

function withoutInit(spec: SandboxSpec): SpecProblem | undefined {
  if (spec.init !== false) return undefined;
  return notSupported('spec.init', 'false', 'accepted: true, or leave it out');
}

function drift(spec: SandboxSpec): SpecProblem | undefined {
  // Absent where an object was stored before the field had a default.
  if ((spec.onDrift ?? 'Report') === 'Report') return undefined;
  return notSupported('spec.onDrift', `"${spec.onDrift}"`, 'accepted: Report');
}

function notSupported(field: string, what: string, instead: string): SpecProblem {
  return {
    reason: 'NotSupported',
    field,
    message: `${field}: ${what} is not supported by this version; ${instead}`,
  };
}

function variables(spec: SandboxSpec): [string, NonNullable<SandboxSpec['env']>[number]][] {
  return [
    ...(spec.env ?? []).map((variable, i): [string, typeof variable] => [`spec.env[${i}]`, variable]),
    ...(spec.setup?.env ?? []).map((variable, i): [string, typeof variable] => [
      `spec.setup.env[${i}]`,
      variable,
    ]),
  ];
}
