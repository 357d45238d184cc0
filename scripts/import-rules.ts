import { posix } from 'node:path';

/**
 * Imports go one way: crds <- kube <- {controller, runtime, local} <- cli. A folder of the list may import itself and
 * what is listed; the embedded control plane serves whatever CRDs it is given and knows no Sandbox.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  crds: [],
  kube: ['crds'],
  controller: ['crds', 'kube'],
  runtime: ['crds', 'kube'],
  local: ['kube'],
  cli: ['crds', 'kube', 'controller', 'runtime', 'local'],
  scripts: ['crds', 'kube', 'controller', 'runtime', 'local', 'cli', 'test'],
  test: ['crds', 'kube', 'controller', 'runtime', 'local', 'cli', 'scripts'],
};

/** Single files that are everyone's: shapes of Kubernetes' own. */
const SHARED = ['crds/meta.ts'];

/** Costs 90 MB of memory on import: only ever imported lazily, where a foreign kubeconfig needs it. */
const HEAVY_PACKAGE = '@kubernetes/client-node';
/** The one file that imports it, and is therefore imported lazily itself. */
const HEAVY_FILE = 'kube/foreign-credentials.ts';

export interface Violation {
  file: string;
  line: number;
  specifier: string;
  why: string;
}

/** What is wrong with the imports of one file; `file` is relative to the repository's root. */
export function violations(file: string, source: string): Violation[] {
  return importsOf(source).flatMap(({ specifier, line, lazy }) => {
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier;
    const heavy = target === HEAVY_FILE || (target === HEAVY_PACKAGE && file !== HEAVY_FILE);
    const why = heavy && !lazy ? 'only with import(), where it is needed' : wrongWay(file, target);
    return why === undefined ? [] : [{ file, line, specifier, why }];
  });
}

interface Import {
  specifier: string;
  line: number;
  lazy: boolean;
}

const IMPORT =
  /(?:^|[;}\s])(?:import|export)\s+(type\s+)?(?:[\w*${}\s,]+?\s+from\s+)?(['"])([^'"\n]+)\2|\bimport\(\s*(['"])([^'"\n]+)\4\s*\)/g;

function importsOf(source: string): Import[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '));
  return [...code.matchAll(IMPORT)].flatMap((match) => {
    const specifier = match[3] ?? match[5];
    if (specifier === undefined) return [];
    const line = code.slice(0, match.index + match[0].length).split('\n').length;
    return [{ specifier, line, lazy: match[5] !== undefined || match[1] !== undefined }];
  });
}

function wrongWay(file: string, target: string): string | undefined {
  const from = topFolder(file);
  const to = topFolder(target);
  // Another package, or Node's own.
  if (!(to in MAY_IMPORT)) return undefined;
  if (from === to || SHARED.includes(target)) return undefined;
  if (to === 'test') return isTest(file) ? undefined : 'only tests import test/';
  const allowed = MAY_IMPORT[from];
  if (allowed === undefined || allowed.includes(to)) return undefined;
  return `${from}/ may import ${['itself', ...allowed].join(', ')}`;
}

function topFolder(path: string): string {
  return path.split('/')[0] ?? '';
}

function isTest(file: string): boolean {
  return file.startsWith('test/') || file.startsWith('scripts/') || file.endsWith('.test.ts');
}
