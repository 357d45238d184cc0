import { RE2JS } from 're2js';
import { BoundedMap } from '../../kube/bounded-map.ts';

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

/**
 * Answers by pattern and text. Every write of an object asks the same of the same short texts again (a status write
 * of the whole spec), and a match costs more than all the rest of a small rule.
 */
const answers = new BoundedMap<string, boolean>(2000);
const ANSWERED_LENGTH = 256;

/** Whether the pattern matches anywhere in the text. Throws when the pattern is bad. */
export function matchesRE2(pattern: string, text: string): boolean {
  const match = (): boolean => compileRE2(pattern).matcher(text).find();
  if (pattern.length + text.length > ANSWERED_LENGTH) return match();
  // The length tells where the pattern ends, whatever is in either.
  const key = `${pattern.length} ${pattern}${text}`;
  let answer = answers.get(key);
  if (answer === undefined) {
    answer = match();
    answers.set(key, answer);
  }
  return answer;
}
