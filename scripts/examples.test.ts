import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { sandboxNodeSpecSchema } from '../crds/sandbox-node.ts';
import { sandboxSpecSchema } from '../crds/sandbox.ts';
import { specProblem } from '../crds/spec-problem.ts';

const folder = join(import.meta.dirname, '..', 'deploy', 'examples');
const examples = readdirSync(folder).map((file) => ({
  file,
  object: parse(readFileSync(join(folder, file), 'utf8')) as {
    kind: string;
    metadata: { name: string };
    spec: unknown;
  },
}));

describe('deploy/examples', () => {
  it.each(examples)('$file is a valid manifest, named after its file', ({ file, object }) => {
    if (object.kind === 'SandboxNode') {
      expect(sandboxNodeSpecSchema.strict().safeParse(object.spec).error).toBeUndefined();
      return;
    }
    const spec = sandboxSpecSchema.strict().parse(object.spec);
    expect(`${object.metadata.name}.yaml`).toBe(file);
    expect(specProblem(spec)?.reason).toBe(file === 'no-network.yaml' ? 'NetworkUnsupported' : undefined);
  });
});
