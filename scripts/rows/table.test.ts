import { describe, expect, it } from 'vitest';
import type { TestResult } from '../tests/results.ts';
import type { Row } from './required.ts';
import { daemonsOf, markdown, outcomes, rowIds } from './table.ts';

const row = (changes: Partial<Row> = {}): Row => ({
  id: 'L5',
  statement: 'applied or not started',
  realDaemon: true,
  required: true,
  ...changes,
});
const test = (title: string, result: TestResult['result'] = 'passed'): TestResult => ({
  file: 'test/a.test.ts',
  title,
  result,
});
const problem = (wanted: Row, ...results: TestResult[]) => outcomes([wanted], results)[0]?.problem;

describe('the table of requirements', () => {
  it('reads row ids and daemons from titles', () => {
    expect(rowIds('agent > [L5] [O1, O2] a title [with brackets] of a [list]')).toEqual(['L5', 'O1', 'O2']);
    expect(daemonsOf('agent on docker-v2-nomem > and docker26-v2, fake')).toEqual([
      'docker-v2-nomem',
      'docker26-v2',
      'fake',
    ]);
    expect(daemonsOf('a driver for docker, v1')).toEqual([]);
  });

  it('is content with a test that passed on a real daemon', () => {
    expect(problem(row(), test('on docker-v1 > [L5] x'))).toBeUndefined();
  });

  it('takes a pure test for a row that needs no daemon', () => {
    expect(problem(row({ realDaemon: false }), test('[L5] x'))).toBeUndefined();
    expect(problem(row(), test('[L5] x'))).toBe('no real daemon shows it');
  });

  it('is not content with the fake alone, with nothing, with skipped or failed tests', () => {
    expect(problem(row(), test('on fake > [L5] x'))).toBe('no real daemon shows it');
    expect(problem(row({ realDaemon: false }), test('on fake > [L5] x'))).toBe(
      'only the fake driver shows it',
    );
    expect(problem(row(), test('agent on fake > [L5] as docker-v1 has it'))).toBe('no real daemon shows it');
    expect(
      problem(row(), test('agent on fake > [L5] x'), test('agent on docker-v1 > [L5] x', 'skipped')),
    ).toBe('no real daemon shows it');
    expect(
      problem(row(), test('agent on fake > [L5] x'), test('agent on docker-v1 > [L5] x')),
    ).toBeUndefined();
    expect(problem(row())).toBe('no test carries it');
    expect(problem(row(), test('on docker-v1 > [L5] x', 'skipped'))).toBe('every test of it was skipped');
    expect(problem(row(), test('on docker-v1 > [L5] x'), test('[L5] y', 'failed'))).toBe('failed: y');
  });

  it('lets a row of a later version be absent, but not fail', () => {
    expect(problem(row({ required: false }))).toBeUndefined();
    expect(problem(row({ required: false }), test('[L5] y', 'failed'))).toBe('failed: y');
  });

  it('writes one line for the same test on several daemons', () => {
    const found = outcomes(
      [row()],
      [test('agent on docker-v1 > [L5] a | b'), test('agent on docker-v2 > [L5] a | b')],
    );
    expect(markdown(found, [])).toContain(
      '| L5 | applied or not started | a \\| b (`test/a.test.ts`) | docker-v1, docker-v2 | passed |',
    );
  });
});
