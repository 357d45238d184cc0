import { refuse } from './status.ts';

/** What recursion over a value may have to go down: far beyond any real object, far within any stack. */
const MAX_DEPTH = 1000;

/** JSON.parse with a bound on how deep values may be. Throws 400 for one that is deeper, SyntaxError otherwise. */
export function parseJSON(text: string): unknown {
  if (text.length > MAX_DEPTH && depthOf(text) > MAX_DEPTH) {
    throw refuse.badRequest(`the body of the request is nested too deeply: the limit is ${MAX_DEPTH} levels`);
  }
  return JSON.parse(text);
}

/** Whether a value is deeper than a body may be. It uses no recursion of its own, and stops as soon as it knows. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null
        ? Object.values(each).filter((v) => typeof v === 'object' && v !== null)
        : [],
    );
  }
  return false;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        break;
      case '{':
      case '[':
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case '}':
      case ']':
        depth -= 1;
        break;
      default:
    }
  }
  return deepest;
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
