import { RE2JS } from 're2js';

/** Patterns of a CRD are few and constant; values are many. */
const cache = new Map<string, RE2JS | Error>();
const CACHE_LIMIT = 2000;

/** Compiles an RE2 pattern as Go's regexp does: no look-around, no back-references, linear time. Throws on a bad one. */
export function compileRE2(pattern: string): RE2JS {
  let found = cache.get(pattern);
  if (found === undefined) {
    if (cache.size >= CACHE_LIMIT) cache.clear();
    try {
      found = RE2JS.compile(pattern);
    } catch (error) {
      found = error instanceof Error ? error : new Error(String(error));
    }
    cache.set(pattern, found);
  }
  if (found instanceof Error) throw found;
  return found;
}

/** Whether the pattern matches anywhere in the text. Throws when the pattern is bad. */
export function matchesRE2(pattern: string, text: string): boolean {
  return compileRE2(pattern).matcher(text).find();
}
