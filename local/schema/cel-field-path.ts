import type { JSONSchemaProps } from './crd-types.ts';

/**
 * A rule's fieldPath (`.spec.foo`, `['a-b'].c`) against its schema: the normalised path with its leading dot,
 * or why it names nothing.
 */
export function validFieldPath(
  jsonPath: string,
  schema: JSONSchemaProps,
): { path: string; schema: JSONSchemaProps } | { error: string } {
  let at = schema;
  let path = '';
  let rest = jsonPath;
  const step = (name: string): string | undefined => {
    const property = at.properties?.[name];
    if (at.properties !== undefined) {
      if (property === undefined) return 'does not refer to a valid field';
      at = property;
      path += `.${name}`;
      return undefined;
    }
    if (typeof at.additionalProperties !== 'object') return 'does not refer to a valid field';
    at = at.additionalProperties;
    path += `[${name}]`;
    return undefined;
  };
  while (rest !== '') {
    const dotted = /^\.([^.[\]]+)/.exec(rest);
    const quoted = /^\['((?:[^'\\]|\\.)*)'\]/.exec(rest);
    const match = dotted ?? quoted;
    if (match === null) {
      if (rest === '.' || rest === '[') return { error: 'unexpected end of JSON path' };
      if (rest.startsWith('['))
        return { error: `expected single quoted string but got ${/^\[([^.[\]]*)/.exec(rest)?.[1] ?? ''}` };
      return { error: `expected [ or . but got: ${/^[^.[\]]*/.exec(rest)?.[0] ?? ''}` };
    }
    const name = dotted === null ? (match[1] ?? '').replace(/\\(.)/g, '$1') : (match[1] ?? '');
    const problem = step(name);
    if (problem !== undefined) return { error: problem };
    rest = rest.slice(match[0].length);
  }
  return { path, schema: at };
}
