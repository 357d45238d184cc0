import type { CelNode } from './cel-ast.ts';
import { Budget, evaluate } from './cel-eval.ts';
import { children } from './cel-literals.ts';
import { CelError } from './cel-values.ts';

const CONVERSIONS = new Set(['int', 'uint', 'double', 'bool', 'string', 'bytes', 'duration', 'timestamp']);

/** Conversions of constants are done once, when a rule is compiled: what the first impossible one says. */
export function constantError(node: CelNode): string | undefined {
  const [arg] = node.kind === 'call' ? node.args : [];
  if (
    node.kind === 'call' &&
    node.target === undefined &&
    CONVERSIONS.has(node.name) &&
    arg?.kind === 'literal'
  ) {
    try {
      evaluate(node, undefined, new Budget(1000));
    } catch (error) {
      if (error instanceof CelError) return error.message;
      throw error;
    }
  }
  for (const child of children(node)) {
    const found = constantError(child);
    if (found !== undefined) return found;
  }
  return undefined;
}
