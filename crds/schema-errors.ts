import type { z } from 'zod';
import type { FieldError } from './field-error.ts';
import { shown } from './quantity.ts';
import { sandboxSpecSchema } from './sandbox.ts';

type Issue = z.core.$ZodIssue;

/**
 * What in a spec the schema refuses, in the words of the other refusals: field, value, what is accepted. `resources`
 * is left to `limitsOf`, which knows more about it. Unknown fields are an API server's to refuse.
 */
export function schemaErrors(spec: unknown): FieldError[] {
  const result = sandboxSpecSchema.safeParse(spec);
  if (result.success) return [];
  return result.error.issues
    .filter(({ path }) => path[0] !== 'resources')
    .map((issue) => {
      const field = fieldOf(issue.path);
      const value = valueAt(spec, issue.path);
      const accepted = acceptedBy(issue);
      return {
        field,
        value,
        accepted,
        message: `${field}: ${value === undefined ? 'nothing' : shown(value)} is refused; accepted: ${accepted}`,
      };
    });
}

/** As an API server writes it: `spec.env[0].value`. */
function fieldOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (field, part) => (typeof part === 'number' ? `${field}[${part}]` : `${field}.${String(part)}`),
    'spec',
  );
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) => (value as Record<PropertyKey, unknown> | undefined)?.[part],
    root,
  );
}

const UNITS: Readonly<Record<string, string>> = { string: 'characters', array: 'entries', map: 'entries' };

function acceptedBy(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'int' ? 'a whole number' : articled(issue.expected);
    case 'invalid_value':
      return issue.values.map(String).join(', ');
    case 'too_big':
      return `at most ${issue.maximum}${unitOf(issue.origin)}`;
    case 'too_small':
      return `at least ${issue.minimum}${unitOf(issue.origin)}`;
    case 'invalid_format':
      return issue.pattern === undefined ? issue.format : `what matches ${issue.pattern}`;
    default:
      return issue.message;
  }
}

function unitOf(origin: string): string {
  const unit = UNITS[origin];
  return unit === undefined ? '' : ` ${unit}`;
}

function articled(type: string): string {
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}
