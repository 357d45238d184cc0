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
    // Which line it is on is told of one line only.
    const line = text.trim().includes('\n') ? '' : 'line 1: ';
    const repeated = duplicateFields(text).map((field) => `${line}${asKey(field)}`);
    return { value, repeated, error: undefined };
  } catch {
    return undefined;
  }
}

/** `duplicate field "spec.a"` in the words for YAML. */
function asKey(field: string): string {
  const path = /"(.*)"$/.exec(field)?.[1] ?? '';
  return `key ${JSON.stringify(path.split('.').at(-1) ?? '')} already set in map`;
}

function readDocument(text: string): YAMLText {
  const failed = (message: string): YAMLText => ({
    value: undefined,
    repeated: [],
    error: firstLine(message),
  });
  try {
    const document = parseDocument(text);
    const repeated = document.errors.filter(({ code }) => code === 'DUPLICATE_KEY');
    const error = document.errors.find(({ code }) => code !== 'DUPLICATE_KEY');
    if (error !== undefined) return failed(error.message);
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return { value, repeated: repeated.map((each) => describe(each, text)), error: undefined };
  } catch (error) {
    // Nested too deeply, or with aliases.
    return failed(error instanceof Error ? error.message : 'not YAML');
  }
}

const firstLine = (message: string): string => message.split('\n')[0] ?? '';

function describe(error: YAMLParseError, text: string): string {
  const key = /^["']?([^"':,}\s]*)/.exec(text.slice(error.pos[0]))?.[1] ?? '';
  return `line ${error.linePos?.[0].line ?? 1}: key ${JSON.stringify(key)} already set in map`;
}
