import { isRetained, limitsHash, specHash } from '../../../crds/identity.ts';
import { hasErrors, limitsOf } from '../../../crds/limits.ts';
import type { SandboxSpec } from '../../../crds/sandbox.ts';
import type { SpecFacts } from './types.ts';

export function specFacts(spec: SandboxSpec): SpecFacts {
  const limits = limitsOf(spec);
  return {
    specHash: specHash(spec),
    limitsHash: limitsHash(spec),
    retained: isRetained(spec),
    hasSetup: spec.setup !== undefined,
    limits: hasErrors(limits) ? {} : limits,
    refusal: refusal(spec) ?? (hasErrors(limits) ? invalid(limits.errors) : undefined),
  };
}

function invalid(errors: { message: string }[]): SpecFacts['refusal'] {
  return { reason: 'InvalidSpec', message: errors.map((error) => error.message).join('; ') };
}

/**
 * What is never ignored: the controller does not bind such a sandbox, but an agent does not rely on who bound it (K9).
 */
function refusal(spec: SandboxSpec): SpecFacts['refusal'] {
  const network = spec.network;
  for (const [field, hosts] of [
    ['spec.network.setup.allow', network?.setup?.allow],
    ['spec.network.runtime.allow', network?.runtime?.allow],
  ] as const) {
    if (hosts !== undefined && hosts.length > 0) {
      return {
        reason: 'NetworkUnsupported',
        message: `${field}: ${JSON.stringify(hosts).slice(0, 200)} cannot be allowed by this version; remove the list or leave it empty.`,
      };
    }
  }
  if (network?.mode !== undefined && network.mode !== 'none') {
    return {
      reason: 'NetworkUnsupported',
      message: `spec.network.mode: "${network.mode}" is not supported by this version; accepted: none.`,
    };
  }
  if (spec.init === false && spec.setup !== undefined) {
    return {
      reason: 'InvalidSpec',
      message: 'spec.setup: needs the init of Holdfast; remove spec.init: false.',
    };
  }
  const unsupported = (field: string, accepted: string): SpecFacts['refusal'] => ({
    reason: 'NotSupported',
    message: `${field} is not supported by this version; ${accepted}.`,
  });
  if (spec.init === false) return unsupported('spec.init: false', 'accepted: true, or leave it out');
  if ((spec.imagePullSecrets ?? []).length > 0) return unsupported('spec.imagePullSecrets', 'leave it out');
  const secret = [...(spec.env ?? []), ...(spec.setup?.env ?? [])].find(
    (variable) => variable.valueFrom !== undefined,
  );
  if (secret !== undefined) {
    return unsupported(`spec.env[${secret.name}].valueFrom.secretKeyRef`, 'give a value');
  }
  if (spec.onNodeLoss === 'Replace') return unsupported('spec.onNodeLoss: Replace', 'accepted: Keep');
  if (spec.onDrift !== undefined && spec.onDrift !== 'Report') {
    return unsupported(`spec.onDrift: ${spec.onDrift}`, 'accepted: Report');
  }
  return undefined;
}
