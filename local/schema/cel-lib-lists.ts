import { define } from './cel-registry.ts';
import { CelError, type CelValue, celCompare, celEquals, Duration, Uint } from './cel-values.ts';

/** Kubernetes' list functions, cel-go's lists and sets extensions. */

const COMPARABLE = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

for (const type of COMPARABLE) {
  define(`list<${type}>.isSorted(): bool`, (list: CelValue[]) =>
    list.every((item, i) => i === 0 || (celCompare(list[i - 1] ?? null, item) ?? 1) <= 0),
  );
  define(`list<${type}>.min(): ${type}`, (list: CelValue[]) => extreme(list, -1, 'min'));
  define(`list<${type}>.max(): ${type}`, (list: CelValue[]) => extreme(list, 1, 'max'));
  define(`list<${type}>.sort(): list<${type}>`, (list: CelValue[]) =>
    [...list].sort((a, b) => celCompare(a, b) ?? 0),
  );
}

function extreme(list: CelValue[], sign: number, name: string): CelValue {
  const [first, ...rest] = list;
  if (first === undefined) throw new CelError(`${name} called on empty list`);
  return rest.reduce((best, item) => ((celCompare(item, best) ?? 0) * sign > 0 ? item : best), first);
}

define('list<int>.sum(): int', (list: bigint[]) => {
  const total = list.reduce((sum, item) => sum + item, 0n);
  if (total < -(2n ** 63n) || total >= 2n ** 63n) throw new CelError('integer overflow');
  return total;
});
define(
  'list<uint>.sum(): uint',
  (list: Uint[]) => new Uint(list.reduce((sum, item) => sum + item.value, 0n)),
);
define('list<double>.sum(): double', (list: number[]) => list.reduce((sum, item) => sum + item, 0));
define(
  'list<duration>.sum(): duration',
  (list: Duration[]) => new Duration(list.reduce((sum, item) => sum + item.ns, 0n)),
);
define('list<A>.indexOf(A): int', (list: CelValue[], item: CelValue) =>
  BigInt(list.findIndex((other) => celEquals(other, item))),
);
define('list<A>.lastIndexOf(A): int', (list: CelValue[], item: CelValue) =>
  BigInt(list.findLastIndex((other) => celEquals(other, item))),
);
define('list<A>.includes(A): bool', (list: CelValue[], item: CelValue) =>
  list.some((other) => celEquals(other, item)),
);
define('list<A>.distinct(): list<A>', (list: CelValue[]) =>
  list.filter((item, i) => !list.slice(0, i).some((other) => celEquals(other, item))),
);
define('list<A>.reverse(): list<A>', (list: CelValue[]) => [...list].reverse());
define('list<A>.slice(int, int): list<A>', (list: CelValue[], from: bigint, to: bigint) => {
  if (from < 0n || to < 0n)
    throw new CelError(`cannot slice(${from}, ${to}), negative indexes not supported`);
  if (from > to)
    throw new CelError(`cannot slice(${from}, ${to}), start index must be less than or equal to end index`);
  if (to > BigInt(list.length))
    throw new CelError(`cannot slice(${from}, ${to}), list is length ${list.length}`);
  return list.slice(Number(from), Number(to));
});
define('list<list<A>>.flatten(): list<A>', (list: CelValue[]) => flatten(list, 1n));
define('list<dyn>.flatten(int): list<dyn>', (list: CelValue[], depth: bigint) => {
  if (depth < 0n) throw new CelError('level must be non-negative');
  return flatten(list, depth);
});
define('lists::range(int): list<int>', (length: bigint) => {
  if (length > 100_000n) throw new CelError('lists.range() size exceeds limit');
  return Array.from({ length: Math.max(0, Number(length)) }, (_, i) => BigInt(i));
});

function flatten(list: CelValue[], depth: bigint): CelValue[] {
  return list.flatMap((item) => {
    if (!Array.isArray(item)) return [item];
    return depth > 1n ? flatten(item, depth - 1n) : depth === 1n ? item : [item];
  });
}

const within = (part: CelValue[], whole: CelValue[]): boolean =>
  part.every((item) => whole.some((other) => celEquals(item, other)));
define('sets::contains(list<A>, list<A>): bool', (whole: CelValue[], part: CelValue[]) =>
  within(part, whole),
);
define(
  'sets::equivalent(list<A>, list<A>): bool',
  (a: CelValue[], b: CelValue[]) => within(a, b) && within(b, a),
);
define('sets::intersects(list<A>, list<A>): bool', (a: CelValue[], b: CelValue[]) =>
  a.some((item) => b.some((other) => celEquals(item, other))),
);
