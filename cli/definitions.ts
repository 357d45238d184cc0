import { crdManifests } from '../crds/crd-manifests.ts';
import { VERSION } from '../crds/group.ts';
import type { KubeClient, KubeObject } from '../kube/client.ts';
import { isForbidden, isNotFound } from '../kube/errors.ts';
import { CRDS } from '../kube/resources.ts';

interface Definition extends KubeObject {
  spec?: { versions?: { name?: string; schema?: { openAPIV3Schema?: unknown } }[] };
}

const INSTALL = 'install them with: holdfast crds | kubectl apply -f -';

/**
 * What is to be said of the CustomResourceDefinitions of the cluster; undefined: nothing. `usable`: there is something
 * to work with.
 */
export async function definitionsNote(
  client: KubeClient,
  signal: AbortSignal,
): Promise<{ usable: boolean; text: string } | undefined> {
  const absent: string[] = [];
  const notes: string[] = [];
  for (const ours of crdManifests()) {
    const { name } = ours.metadata;
    try {
      const theirs = await client.get<Definition>(CRDS, { name }, { signal });
      const note = compare(name, ours, theirs);
      if (note !== undefined) notes.push(note);
    } catch (error) {
      if (isForbidden(error)) return undefined;
      if (!isNotFound(error)) throw error;
      absent.push(name);
    }
  }
  if (absent.length > 0) {
    return {
      usable: false,
      text: `the cluster has no CustomResourceDefinition ${absent.join(', ')}: ${INSTALL}`,
    };
  }
  return notes.length === 0 ? undefined : { usable: true, text: notes.join('; ') };
}

function compare(name: string, ours: unknown, theirs: Definition): string | undefined {
  const own = pathsOf(schemaOf(ours as Definition));
  const other = pathsOf(schemaOf(theirs));
  const missing = [...own].filter((path) => !other.has(path));
  const more = [...other].filter((path) => !own.has(path));
  if (missing.length > 0) {
    return (
      `the CustomResourceDefinition ${name} is older than this program: it lacks ${some(missing)}; ` +
      `what needs them fails until it is replaced: ${INSTALL}`
    );
  }
  if (more.length === 0) return undefined;
  return (
    `the CustomResourceDefinition ${name} is newer than this program: ` +
    `${some(more)} will be left as they are and not acted on; install a newer one`
  );
}

function schemaOf({ spec }: Definition): unknown {
  return spec?.versions?.find(({ name }) => name === VERSION)?.schema?.openAPIV3Schema;
}

/** Every field, and every value that a field may have where there is a list of them. */
function pathsOf(schema: unknown, at = '', found = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return found;
  const { properties, items, enum: values } = schema as Record<string, unknown>;
  if (Array.isArray(values)) for (const value of values) found.add(`${at}=${String(value)}`);
  if (items !== undefined) pathsOf(items, `${at}[]`, found);
  if (typeof properties === 'object' && properties !== null) {
    for (const [name, of] of Object.entries(properties)) {
      const path = at === '' ? name : `${at}.${name}`;
      found.add(path);
      pathsOf(of, path, found);
    }
  }
  return found;
}

function some(paths: readonly string[]): string {
  const most = 5;
  const rest = paths.length - most;
  return `${paths.slice(0, most).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
