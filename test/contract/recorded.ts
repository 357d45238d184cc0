import { readFileSync } from 'node:fs';
import type { Outcome } from './types.ts';

/** The file with what a kube-apiserver of this version (`v1.37`) answered to a suite. */
export function recordedFile(version: string, suite: string): URL {
  return new URL(`./recorded/${version}/${suite}.json`, import.meta.url);
}

export function recorded(version: string, suite: string): Record<string, Outcome[]> {
  const text = readFileSync(recordedFile(version, suite), 'utf8');
  return (JSON.parse(text) as { cases: Record<string, Outcome[]> }).cases;
}
