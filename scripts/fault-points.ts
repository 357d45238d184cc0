import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Whose side effects are named steps. */
const PARTS = ['runtime/agent', 'controller', 'local'];

/** The list of fault points is read from the source, so that a new step cannot be forgotten. */
export function faultPoints(part: string): string[] {
  const names = new Set<string>();
  for (const entry of readdirSync(join(ROOT, part), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.test.ts')) continue;
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
    for (const match of text.matchAll(/\bstep\(\s*'([a-z0-9-]+)'/g)) if (match[1]) names.add(match[1]);
  }
  return [...names].toSorted().flatMap((name) => [`before:${name}`, `after:${name}`]);
}

export function generatedFiles(): { path: string; content: string }[] {
  return PARTS.map((part) => ({
    path: `${part}/fault-points.generated.json`,
    content: `${JSON.stringify(faultPoints(part), null, 2)}\n`,
  }));
}
