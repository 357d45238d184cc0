import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The list of fault points is read from the source, so that a new step cannot be forgotten. */
export function faultPoints(folder: string = import.meta.dirname): string[] {
  const names = new Set<string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.test.ts')) continue;
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
    for (const match of text.matchAll(/\bstep\(\s*'([a-z0-9-]+)'/g)) if (match[1]) names.add(match[1]);
  }
  return [...names].toSorted().flatMap((name) => [`before:${name}`, `after:${name}`]);
}

export function generatedFiles(): Promise<{ path: string; content: string }[]> {
  return Promise.resolve([
    {
      path: 'runtime/agent/fault-points.generated.json',
      content: `${JSON.stringify(faultPoints(), null, 2)}\n`,
    },
  ]);
}
