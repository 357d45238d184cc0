import { goJSON, goNumber, goQuote, type Json } from './json.ts';

export type FieldErrorType =
  | 'NotFound'
  | 'Required'
  | 'Duplicate'
  | 'Invalid'
  | 'NotSupported'
  | 'Forbidden'
  | 'TooLong'
  | 'TooMany'
  | 'TooFew'
  | 'TooShort'
  | 'TypeInvalid'
  | 'InternalError';

/** One refusal of one field: `field.Error` of apimachinery. `badValue` undefined: the value is left out of the text. */
export interface FieldError {
  type: FieldErrorType;
  /** Such as `spec.env[0].name`; `<nil>` for the object itself. */
  field: string;
  badValue?: Json | undefined;
  /** The value as Go prints it, where that is not its JSON. */
  shown?: string;
  detail: string;
}

const WORDS: Record<FieldErrorType, string> = {
  NotFound: 'Not found',
  Required: 'Required value',
  Duplicate: 'Duplicate value',
  Invalid: 'Invalid value',
  NotSupported: 'Unsupported value',
  Forbidden: 'Forbidden',
  TooLong: 'Too long',
  TooMany: 'Too many',
  TooFew: 'Too few',
  TooShort: 'Too short',
  TypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
};

const WITHOUT_VALUE = new Set<FieldErrorType>([
  'Required',
  'Forbidden',
  'TooLong',
  'TooShort',
  'InternalError',
]);

/** The text without the field: what a cause carries as its message. */
export function errorBody(error: FieldError): string {
  let text = WORDS[error.type];
  if (!WITHOUT_VALUE.has(error.type) && error.badValue !== undefined)
    text += `: ${error.shown ?? showValue(error.badValue)}`;
  return error.detail === '' ? text : `${text}: ${error.detail}`;
}

function showValue(value: Json): string {
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number') return goNumber(value);
  return goJSON(value);
}

/** `<field>: <body>`. */
export function errorText(error: FieldError): string {
  return `${error.field}: ${errorBody(error)}`;
}

/** The reason of a cause in `metav1.StatusDetails`. */
export function causeReason(type: FieldErrorType): string {
  return type === 'InternalError' ? type : `FieldValue${type}`;
}

const NIL = '<nil>';
const shown = (path: string): string => (path === '' ? NIL : path);

export const fieldErrors = {
  required: (path: string, detail = ''): FieldError => ({
    type: 'Required',
    field: shown(path),
    badValue: '',
    detail,
  }),
  invalid: (path: string, badValue: Json | undefined, detail: string): FieldError => ({
    type: 'Invalid',
    field: shown(path),
    badValue,
    detail,
  }),
  typeInvalid: (path: string, badValue: Json | undefined, detail: string): FieldError => ({
    type: 'TypeInvalid',
    field: shown(path),
    badValue,
    detail,
  }),
  duplicate: (path: string, badValue: Json | undefined): FieldError => ({
    type: 'Duplicate',
    field: shown(path),
    badValue,
    detail: '',
  }),
  forbidden: (path: string, detail: string): FieldError => ({
    type: 'Forbidden',
    field: shown(path),
    badValue: '',
    detail,
  }),
  notSupported: (path: string, badValue: Json | undefined, supported: string[]): FieldError => ({
    type: 'NotSupported',
    field: shown(path),
    badValue,
    detail: supported.length === 0 ? '' : `supported values: ${supported.map(goQuote).join(', ')}`,
  }),
  tooLong: (path: string, max: number, unit: 'byte' | 'character' = 'byte'): FieldError => ({
    type: 'TooLong',
    field: shown(path),
    badValue: '<value omitted>',
    detail: max < 0 ? 'value is too long' : `may not be more than ${max} ${unit}${max === 1 ? '' : 's'}`,
  }),
  tooMany: (path: string, actual: number | undefined, max: number): FieldError => ({
    type: 'TooMany',
    field: shown(path),
    badValue: actual,
    detail: `must have at most ${max} item${max === 1 ? '' : 's'}`,
  }),
  internal: (path: string, detail: string): FieldError => ({
    type: 'InternalError',
    field: shown(path),
    badValue: '',
    detail,
  }),
};

export const childPath = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
export const keyPath = (path: string, key: string): string => `${path}[${key}]`;
export const indexPath = (path: string, index: number): string => `${path}[${index}]`;
