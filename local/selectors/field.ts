import { SelectorError } from './label.ts';

export interface FieldRequirement {
  field: string;
  operator: '=' | '==' | '!=';
  value: string;
}

/** All must hold. */
export type FieldSelector = FieldRequirement[];

/** Parses `metadata.name=a,spec.x!=b`. Throws SelectorError and nothing else. */
export function parseFieldSelector(text: string): FieldSelector {
  const out: FieldSelector = [];
  for (const term of splitTerms(text).sort()) {
    if (term === '') continue;
    const match = /^((?:(?!!=|=)[\s\S])*)(!=|==|=)([\s\S]*)$/.exec(term);
    if (match === null) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = '', operator, value = ''] = match;
    out.push({ field, operator: operator as FieldRequirement['operator'], value: unescapeValue(value) });
  }
  return out;
}

/** `,` parts terms, unless a backslash stands before it. */
function splitTerms(text: string): string[] {
  const out: string[] = [];
  let start = 0;
  let escaped = false;
  for (let i = 0; i < text.length; i++) {
    if (escaped) escaped = false;
    else if (text[i] === '\\') escaped = true;
    else if (text[i] === ',') {
      out.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...out, text.slice(start)];
}

function unescapeValue(text: string): string {
  let out = '';
  let escaped = false;
  for (const c of text) {
    if (escaped) {
      if (c !== '\\' && c !== ',' && c !== '=')
        throw new SelectorError(`invalid field selector: invalid escape sequence: \\${c}`);
      out += c;
      escaped = false;
    } else if (c === '\\') escaped = true;
    else if (c === ',' || c === '=')
      // The server prints the rune's number; so do we.
      throw new SelectorError(`invalid field selector: unescaped character in value: ${c.codePointAt(0)}`);
    else out += c;
  }
  if (escaped) throw new SelectorError('invalid field selector: invalid escape sequence: \\');
  return out;
}

/** `read` gives the value of a field of the object; a field that is not there reads as ''. */
export function matchesFields(selector: FieldSelector, read: (field: string) => string): boolean {
  return selector.every(({ field, operator, value }) => (read(field) === value) === (operator !== '!='));
}
