import { Environment } from '@marcbachmann/cel-js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitCases } from '../test/crds/limit-cases.ts';
import { hasErrors, limitsOf } from './limits.ts';
import {
  limitRules,
  reservedRules,
  setupNeedsInitRule,
  valueOrSourceRule,
  workspacePathRule,
  type ValidationRule,
} from './rules.ts';
import type { SandboxSpec } from './sandbox.ts';
import { specProblem } from './spec-problem.ts';

const spec: SandboxSpec = {
  image: 'busybox:1',
  terminationGracePeriodSeconds: 10,
  onNodeLoss: 'Keep',
  onDrift: 'Report',
};
const environment = new Environment({ unlistedVariablesAreDyn: true });
// API servers have it, this library has not.
environment.registerFunction(
  'string.replace(string, string): string',
  (text: string, from: string, to: string) => text.replaceAll(from, () => to),
);

/** As an API server does it: whole numbers are CEL's int. */
function celValue(value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, celValue(item)]));
}

function refusals(rules: ValidationRule[], self: unknown): string[] {
  const context = { self: celValue(self) };
  return rules
    .filter(({ rule }) => environment.evaluate(rule, context) !== true)
    .map(({ message, messageExpression }) =>
      messageExpression === undefined ? message : String(environment.evaluate(messageExpression, context)),
    );
}

/** The schema lets no other type come to the rules. */
const reachesRules = (value: unknown): boolean =>
  value === null || typeof value === 'string' || (Number.isSafeInteger(value) && typeof value === 'number');

describe('CEL rules of limits', () => {
  it.each(limitCases.filter(({ value }) => reachesRules(value)))(
    '[L1] $field $value: the API server decides as the parser does',
    ({ field, value, means }) => {
      const messages = refusals(limitRules, { [field]: value });
      if (means === undefined) {
        expect(messages.length).toBeGreaterThan(0);
        if (typeof value !== 'string' || value.length < 80)
          expect(messages[0]).toContain(
            `${field}: ${typeof value === 'string' ? `"${value.replaceAll('\n', '\\n')}"` : String(value)} is refused; accepted: `,
          );
      } else expect(messages).toEqual([]);
      if (field !== 'pids')
        if (value !== null)
          expect(refusals(reservedRules, { [field]: value }).length > 0).toBe(means === undefined);
    },
  );

  const digits = fc.string({ unit: fc.integer({ min: 0, max: 9 }).map(String), maxLength: 19 });
  const suffix = fc.constantFrom(
    '',
    'm',
    'k',
    'Ki',
    'Mi',
    'Gi',
    'Ti',
    'M',
    'G',
    'T',
    'g',
    't',
    'kb',
    'mb',
    'gb',
    'tb',
    'n',
    'X',
    'K',
  );
  const nearly = fc
    .tuple(fc.constantFrom('', '', '', ' ', '-', '+'), digits, fc.constantFrom('', '.'), digits, suffix)
    .map((parts) => parts.join(''));
  const halves = fc
    .tuple(
      fc.integer({ min: 0, max: 9999 }),
      fc.integer({ min: 0, max: 15 }),
      fc.integer({ min: 0, max: 32768 }),
      suffix,
    )
    .map(
      ([whole, power, part, unit]) =>
        `${whole}.${(part / 2 ** power).toFixed(18).split('.')[1]?.replace(/0+$/, '') ?? ''}${unit}`,
    );
  const anything = fc.oneof(nearly, halves, fc.string(), fc.maxSafeInteger(), fc.nat(9_000_000));

  it.each(['cpu', 'memory', 'pids', 'gpu'])('[L1] [L3] parser and rules agree on any value of %s', (key) => {
    fc.assert(
      fc.property(anything, (value) => {
        const resources = { [key]: value };
        expect(refusals(limitRules, resources).length > 0).toBe(hasErrors(limitsOf({ resources })));
      }),
      { numRuns: 1000 },
    );
  });

  it('[L3] an unknown key is named', () => {
    expect(refusals(limitRules, { cpu: 1, gpu: 1 })).toEqual([
      'unknown key "gpu"; accepted keys: cpu, memory, pids',
    ]);
  });

  it('[L2] an empty map is fine', () => {
    expect(refusals(limitRules, {})).toEqual([]);
  });

  it.each([
    '/',
    '//',
    '/proc',
    '/sys/fs',
    '//dev',
    '/.holdfast/bin',
    '/a/../proc',
    '/a/.',
    '/..',
    '/workspace',
    '/home/..data',
  ])('a workspace at %s: rules and parser agree', (path) => {
    const problem = specProblem({ ...spec, workspace: { path } });
    expect(refusals([workspacePathRule], { path }).length > 0).toBe(problem !== undefined);
  });

  it('value excludes valueFrom, and setup needs init', () => {
    expect(refusals([valueOrSourceRule], { name: 'a', value: '', valueFrom: {} })).toHaveLength(1);
    expect(refusals([valueOrSourceRule], { name: 'a', value: '' })).toEqual([]);
    expect(refusals([setupNeedsInitRule], { setup: {}, init: false })).toHaveLength(1);
    expect(refusals([setupNeedsInitRule], { setup: {}, init: true })).toEqual([]);
    expect(refusals([setupNeedsInitRule], { init: false })).toEqual([]);
  });
});
