import { existsSync } from 'node:fs';
import path from 'node:path';
import { Failure } from './failure.ts';

/** The holdfast-init program: the one that was named, else beside the bundle, else where a clone builds it. */
export function findInitBinary(named: string | undefined, from: string = import.meta.dirname): string {
  if (named !== undefined) {
    if (existsSync(named)) return named;
    throw new Failure(`--init-binary: there is no file ${named}`);
  }
  const places = [
    path.join(from, 'holdfast-init'),
    path.join(from, '..', 'holdfast-init'),
    path.join(from, '..', 'dist', 'holdfast-init'),
    path.join(from, '..', 'runtime', 'init', 'build', 'holdfast-init'),
  ];
  // What was built from these very sources before what a bundle has.
  const found = places.toReversed().find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new Failure(
    'the program holdfast-init is missing: build it with "make init", or name it with --init-binary',
  );
}
