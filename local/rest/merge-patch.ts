import { isRecord } from '../object.ts';

/** JSON merge patch (RFC 7386). Answers a new value; the target is left alone where it can be. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const out: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    // JSON.parse makes `__proto__` a member like any other; an assignment would not.
    if (key === '__proto__') continue;
    if (value === null) delete out[key];
    else out[key] = mergePatch(Object.hasOwn(out, key) ? out[key] : undefined, value);
  }
  return out;
}
