/**
 * Fields that stand twice in a JSON text, as the API server names them (`duplicate field "spec.a"`). JSON.parse
 * keeps the last one and says nothing. The text must be JSON.
 */
export function duplicateFields(text: string): string[] {
  const found: string[] = [];
  let at = 0;

  const skipSpace = (): void => {
    while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  };
  /** From a quote to behind the closing one; the content is decoded only where it has escapes. */
  const readString = (): string => {
    const begin = at + 1;
    let escaped = false;
    for (at = begin; text[at] !== '"' && at < text.length; at += 1) {
      if (text[at] === '\\') {
        escaped = true;
        at += 1;
      }
    }
    const raw = text.slice(begin, at);
    at += 1;
    return escaped ? (JSON.parse(`"${raw}"`) as string) : raw;
  };
  const readValue = (path: string): void => {
    skipSpace();
    const c = text[at];
    if (c === '{') readObject(path);
    else if (c === '[') readArray(path);
    else if (c === '"') readString();
    else while (at < text.length && !',]}'.includes(text[at] ?? '') && text.charCodeAt(at) > 0x20) at += 1;
  };
  const readObject = (path: string): void => {
    const seen = new Set<string>();
    at += 1;
    for (;;) {
      skipSpace();
      if (text[at] !== '"') break;
      const key = readString();
      const child = path === '' ? key : `${path}.${key}`;
      if (seen.has(key)) found.push(`duplicate field ${JSON.stringify(child)}`);
      seen.add(key);
      skipSpace();
      at += 1; // the colon
      readValue(child);
      skipSpace();
      if (text[at] !== ',') break;
      at += 1;
    }
    at += 1;
  };
  const readArray = (path: string): void => {
    at += 1;
    for (let i = 0; ; i += 1) {
      skipSpace();
      if (text[at] === ']') break;
      readValue(`${path}[${i}]`);
      skipSpace();
      if (text[at] !== ',') break;
      at += 1;
    }
    at += 1;
  };

  readValue('');
  return found;
}
