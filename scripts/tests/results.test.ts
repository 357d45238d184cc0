import { describe, expect, it } from 'vitest';
import { closingLine, count, describeResult, explain, merge, resultsOf } from './results.ts';

const file = (status: string, ...statuses: string[]) => ({
  name: '/root/a.test.ts',
  status,
  message: '',
  assertionResults: statuses.map((each, index) => ({
    ancestorTitles: ['suite'],
    title: `t${index}`,
    status: each,
  })),
});

describe('test results', () => {
  it('counts what passed, failed and did not run', () => {
    const results = resultsOf(
      { testResults: [file('failed', 'passed', 'failed', 'pending', 'todo')] },
      '/root',
    );
    expect(closingLine(count(results))).toBe('1 passed, 1 failed, 2 skipped');
    expect(results[0]).toEqual({ file: 'a.test.ts', title: 'suite > t0', result: 'passed' });
  });

  it('counts a file that could not be run as a failure', () => {
    expect(
      count(resultsOf({ testResults: [file('failed'), file('failed', 'passed')] }, '/root')).failed,
    ).toBe(2);
  });

  it('takes several runs as one', () => {
    const test = (title: string, result: 'passed' | 'failed' | 'skipped') => ({ file: 'f', title, result });
    const merged = merge([
      test('a', 'skipped'),
      test('a', 'passed'),
      test('b', 'failed'),
      test('b', 'passed'),
    ]);
    expect(merged).toEqual([test('a', 'passed'), test('b', 'failed')]);
  });

  it('says why a test was skipped, and that nobody said why', () => {
    const test = (title: string, result: 'passed' | 'skipped') => ({ file: 'f', title, result });
    const notes = [
      { file: 'f', title: 'a', reason: 'needs root' },
      { file: 'f', title: 'b', reason: 'needs root' },
    ];
    expect(
      explain([test('a', 'skipped'), test('b', 'passed'), test('c', 'skipped')], notes).map(describeResult),
    ).toEqual(['f: a (needs root)', 'f: b', 'f: c (NO REASON GIVEN)']);
  });
});
