import type { CelNode } from './cel-ast.ts';
import { parseDuration, parseTimestamp } from './cel-time.ts';
import { compileRE2 } from './re2.ts';

/** Constant arguments are tried at once: a bad pattern or time is refused with the rule. */
export function checkLiterals(node: CelNode, fail: (pos: number, message: string) => void): void {
  if (node.kind === 'call') {
    const arg = node.args[node.args.length - 1];
    const value = arg?.kind === 'literal' && typeof arg.value === 'string' ? arg.value : undefined;
    const test = Object.hasOwn(LITERALS, node.name) ? LITERALS[node.name] : undefined;
    if (arg !== undefined && value !== undefined && test !== undefined && !test(value))
      fail(arg.pos, `invalid ${node.name} argument`);
  }
  for (const child of children(node)) checkLiterals(child, fail);
}

const LITERALS: Record<string, (text: string) => boolean> = {
  matches: (text) => {
    try {
      compileRE2(text);
      return true;
    } catch {
      return false;
    }
  },
  duration: (text) => parseDuration(text) !== undefined,
  timestamp: (text) => parseTimestamp(text) !== undefined,
};

export function children(node: CelNode): CelNode[] {
  switch (node.kind) {
    case 'select':
    case 'has':
    case 'unary':
      return [node.operand];
    case 'index':
      return [node.operand, node.index];
    case 'binary':
    case 'and':
    case 'or':
      return [node.left, node.right];
    case 'ternary':
      return [node.test, node.yes, node.no];
    case 'list':
      return node.items.map((item) => item.value);
    case 'map':
      return node.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'macro':
      return [node.target, ...node.args];
    case 'call':
      return [...(node.target === undefined ? [] : [node.target]), ...node.args];
    default:
      return [];
  }
}
