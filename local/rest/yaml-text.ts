import { type Document, isMap, isScalar, Lexer, LineCounter, parseDocument, visit } from 'yaml';
import { duplicateFields } from './duplicate-fields.ts';

interface YAMLText {
  value: unknown;
  /** `line 3: key "a" already set in map`: the last one counts. */
  repeated: string[];
  /** Why it is no YAML. */
  error: string | undefined;
}

/**
 * A body holds up every other request while it is read, and YAML is slow to read: so many pieces (a plain line has
 * seven) are more than the largest definitions have. As JSON the same may be as large as any body.
 */
const MAX_PIECES = 100_000;

/** Reads YAML. Aliases are refused: a few can stand for gigabytes. Load this file when somebody sends it: most never do. */
export function readYAML(text: string): YAMLText {
  return readJSON(text) ?? readDocument(text);
}

/** JSON is YAML too, is most of what is sent as YAML, and is read a hundred times faster. */
function readJSON(text: string): YAMLText | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return duplicateFields(text).length > 0 ? undefined : { value, repeated: [], error: undefined };
  } catch {
    return undefined;
  }
}

function readDocument(text: string): YAMLText {
  if (isTooLong(text)) {
    return failed(`more than ${MAX_PIECES} keys, values and marks: send it as JSON`);
  }
  const lines = new LineCounter();
  // What the parser would do by itself for repeated keys, and to show each error, takes minutes for many of them.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  const error = document.errors[0];
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    return failed(`${error.message} at line ${line}, column ${col}:`);
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return { value, repeated: repeatedKeys(document, lines), error: undefined };
  } catch (thrown) {
    return failed(thrown instanceof Error ? thrown.message : 'not YAML');
  }
}

function failed(message: string): YAMLText {
  return { value: undefined, repeated: [], error: message.split('\n')[0] ?? '' };
}

function isTooLong(text: string): boolean {
  let pieces = 0;
  for (const _ of new Lexer().lex(text)) {
    pieces += 1;
    if (pieces > MAX_PIECES) return true;
  }
  return false;
}

function repeatedKeys(document: Document.Parsed, lines: LineCounter): string[] {
  const repeated: string[] = [];
  visit(document, {
    Map(_key, map) {
      const seen = new Set<unknown>();
      for (const { key } of isMap(map) ? map.items : []) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const { line } = lines.linePos(key.range?.[0] ?? 0);
          repeated.push(`line ${line}: key ${JSON.stringify(String(key.value))} already set in map`);
        }
        seen.add(key.value);
      }
    },
  });
  return repeated;
}
