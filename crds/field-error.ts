/** What is wrong with one field, in words a user can act on. */
export interface FieldError {
  /** Path from the top of the object, as an API server writes it: `spec.resources.memory`. */
  field: string;
  value: unknown;
  accepted: string;
  message: string;
}

export function describeErrors(errors: readonly FieldError[]): string {
  return errors.map((error) => error.message).join('; ');
}
