import type { StatusCause } from '../rest/status.ts';
import { failure, type StatusError } from '../rest/status.ts';
import { FieldSet } from './field-set.ts';
import { byText, type Manager } from './managers.ts';
import { type PathElement, showPath } from './path-element.ts';

/** Fields that an applied configuration would change and that somebody else owns. */
export interface Conflict {
  key: string;
  manager: Manager;
  fields: FieldSet;
}

export class ApplyConflicts extends Error {
  override readonly name = 'ApplyConflicts';
  readonly conflicts: Conflict[];
  constructor(conflicts: Conflict[]) {
    super('the applied fields are owned by others');
    this.conflicts = conflicts;
  }
}

export function conflictFields(conflicts: readonly Conflict[]): FieldSet {
  return conflicts.reduce((all, { fields }) => all.union(fields), new FieldSet());
}

/** The 409 that names each of them. */
export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const sorted = conflicts.toSorted((a, b) => byText(a.key, b.key));
  const all = sorted.flatMap(({ manager, fields }) => fields.paths().map((path) => ({ manager, path })));
  const causes: StatusCause[] = all.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${named(manager)}`,
    field: showPath(path),
  }));
  return failure(409, 'Conflict', message(sorted, all), { causes });
}

function message(conflicts: readonly Conflict[], all: { manager: Manager; path: PathElement[] }[]): string {
  const [only] = all;
  if (all.length === 1 && only !== undefined)
    return `Apply failed with 1 conflict: conflict with ${named(only.manager)}: ${showPath(only.path)}`;
  const lines = conflicts.flatMap(({ manager, fields }) => [
    `conflicts with ${named(manager)}:`,
    ...fields.paths().map((path) => `- ${showPath(path)}`),
  ]);
  return `Apply failed with ${all.length} conflicts: ${lines.join('\n')}`;
}

function named({ manager, operation, apiVersion, subresource }: Manager): string {
  const name = `${JSON.stringify(manager)}${subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`}`;
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
