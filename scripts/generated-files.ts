import { generatedFiles as commandHelp } from '../cli/generated-files.ts';
import { generatedFiles as fromSchemas } from '../crds/generated-files.ts';
import { chartFiles } from './chart-files.ts';
import { generatedFiles as faultPoints } from './fault-points.ts';

interface GeneratedFile {
  /** Relative to the repository's root. */
  path: string;
  content: string;
}

/** Every file of the repository that is made from sources in it. */
export async function generatedFiles(): Promise<GeneratedFile[]> {
  const made = fromSchemas();
  const schemas = [...made].map(([path, content]) => ({ path, content }));
  return [...schemas, ...(await chartFiles(made)), ...(await commandHelp()), ...faultPoints()];
}
