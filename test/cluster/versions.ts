import { execFile } from 'node:child_process';
import { join } from 'node:path';

/** Of Kubernetes; the newest first. Each but the newest has its go.mod in a folder of its name here. */
export const VERSIONS = ['v1.37', 'v1.34'] as const;
export type KubeVersion = (typeof VERSIONS)[number];
export const NEWEST: KubeVersion = VERSIONS[0];

/** The version that HOLDFAST_KUBE_VERSION asks for; by default the newest. */
export function chosenVersion(env: NodeJS.ProcessEnv = process.env): KubeVersion {
  const asked = env['HOLDFAST_KUBE_VERSION'];
  if (asked === undefined || asked === '') return NEWEST;
  const known = VERSIONS.find((version) => version === asked);
  if (known === undefined)
    throw new Error(`HOLDFAST_KUBE_VERSION: "${asked}" is none of ${VERSIONS.join(', ')}`);
  return known;
}

/** There are no binaries of this version here and none can be built; the message says why. */
export class NoCluster extends Error {}

/** The folder of the binaries of a version, built first where it is not in the cache. */
export async function clusterBinaries(
  version: KubeVersion = chosenVersion(),
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const build = join(import.meta.dirname, 'build');
  return await new Promise((resolve, reject) => {
    const args = version === NEWEST ? [build] : [build, version];
    const child = execFile('sh', args, { env }, (error, out, said) => {
      if (error === null) resolve(out.trim());
      else reject(new NoCluster(said.trim().split('\n').at(-1) || error.message, { cause: error }));
    });
    child.stderr?.pipe(process.stderr);
  });
}
