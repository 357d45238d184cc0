import { isRetained, limitsHash, specHash } from '../../../crds/identity.ts';
import { hasErrors, limitsOf } from '../../../crds/limits.ts';
import type { SandboxSpec } from '../../../crds/sandbox.ts';
import { specProblem } from '../../../crds/spec-problem.ts';
import type { SpecFacts } from './types.ts';

/**
 * What follows from a spec alone. A spec that asks for what is not supported is refused here as well: the controller
 * does not bind it, but an agent does not rely on who bound a sandbox (K9).
 */
export function specFacts(spec: SandboxSpec): SpecFacts {
  const limits = limitsOf(spec);
  const problem = specProblem(spec);
  return {
    specHash: specHash(spec),
    limitsHash: limitsHash(spec),
    retained: isRetained(spec),
    hasSetup: spec.setup !== undefined,
    limits: hasErrors(limits) ? {} : limits,
    refusal: problem === undefined ? undefined : { reason: problem.reason, message: problem.message },
  };
}
