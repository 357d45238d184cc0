import { causeReason, errorBody, errorText, type FieldError } from './field-error.ts';

/** `metav1.Status` of a refusal; what an API server sends with its 422. */
export interface InvalidStatus {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, never>;
  status: 'Failure';
  message: string;
  reason: 'Invalid';
  details: {
    name?: string;
    group?: string;
    kind?: string;
    causes: { reason: string; message: string; field: string }[];
  };
  code: 422;
}

/**
 * The answer to an object that does not validate, worded as `errors.NewInvalid` words it: every error is a cause,
 * and the message joins them, the same text once.
 */
export function invalidStatus(
  group: string,
  kind: string,
  name: string,
  errors: FieldError[],
): InvalidStatus {
  const qualified = group === '' ? kind : `${kind}.${group}`;
  const texts = [...new Set(errors.map(errorText))];
  const joined = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `${qualified} ${JSON.stringify(name)} is invalid${texts.length === 0 ? '' : `: ${joined}`}`,
    reason: 'Invalid',
    details: {
      ...(name === '' ? {} : { name }),
      ...(group === '' ? {} : { group }),
      kind,
      causes: errors.map((error) => ({
        reason: causeReason(error.type),
        message: errorBody(error),
        field: error.field,
      })),
    },
    code: 422,
  };
}
