import { parseDocument, type YAMLParseError } from 'yaml';
import { duplicateFields } from './duplicate-fields.ts';

interface YAMLText {
  value: unknown;
  /** `line 3: key "a" already set in map`: the last one counts. */
  repeated: string[];
  /** Why it is no YAML. */
  error: string | undefined;
}

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
  const document = parseDocument(text);
  const repeated = document.errors.filter(({ code }) => code === 'DUPLICATE_KEY');
  const error = document.errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  if (error !== undefined) return { value: undefined, repeated: [], error: firstLine(error.message) };
  try {
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return { value, repeated: repeated.map((each) => describe(each, text)), error: undefined };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : 'not YAML';
    return { value: undefined, repeated: [], error: firstLine(message) };
  }
}

const firstLine = (message: string): string => message.split('\n')[0] ?? '';

function describe(error: YAMLParseError, text: string): string {
  const key = /^["']?([^"':,}\s]*)/.exec(text.slice(error.pos[0]))?.[1] ?? '';
  return `line ${error.linePos?.[0].line ?? 1}: key ${JSON.stringify(key)} already set in map`;
}
