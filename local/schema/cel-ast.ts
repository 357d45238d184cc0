import type { CelValue } from './cel-values.ts';

/** A parsed CEL expression. `pos` is the offset that the server's messages point at. */
export type CelNode =
  | { kind: 'literal'; pos: number; value: CelValue }
  | { kind: 'ident'; pos: number; name: string }
  | { kind: 'select'; pos: number; operand: CelNode; field: string; optional: boolean }
  | { kind: 'index'; pos: number; operand: CelNode; index: CelNode; optional: boolean }
  | { kind: 'has'; pos: number; operand: CelNode; field: string }
  | { kind: 'call'; pos: number; name: string; target?: CelNode; args: CelNode[] }
  | { kind: 'unary'; pos: number; op: '!' | '-'; operand: CelNode }
  | { kind: 'binary'; pos: number; op: BinaryOp; left: CelNode; right: CelNode }
  | { kind: 'and' | 'or'; pos: number; left: CelNode; right: CelNode }
  | { kind: 'ternary'; pos: number; test: CelNode; yes: CelNode; no: CelNode }
  | { kind: 'list'; pos: number; items: { value: CelNode; optional: boolean }[] }
  | { kind: 'map'; pos: number; entries: { key: CelNode; value: CelNode; optional: boolean }[] }
  | { kind: 'macro'; pos: number; macro: MacroName; target: CelNode; vars: string[]; args: CelNode[] };

export type BinaryOp = '+' | '-' | '*' | '/' | '%' | '<' | '<=' | '>' | '>=' | '==' | '!=' | 'in';

export type MacroName =
  | 'all'
  | 'exists'
  | 'exists_one'
  | 'map'
  | 'filter'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry'
  | 'sortBy'
  | 'optMap'
  | 'optFlatMap';
