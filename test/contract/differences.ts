import type { Outcome } from './types.ts';

/**
 * Where the embedded API answers otherwise than the recording of a real kube-apiserver, and why. `edit` turns the
 * recording into what is expected; nothing else may differ.
 */
export interface Difference {
  suite: string;
  tests: string[];
  why: string;
  edit(outcomes: Outcome[]): void;
}

/** Replaces a text wherever it stands in the answers. */
function replace(from: string, to: string): Difference['edit'] {
  return (outcomes) => {
    for (const outcome of outcomes)
      outcome.body = JSON.parse(JSON.stringify(outcome.body).replaceAll(from, to));
  };
}

export const differences: Difference[] = [
  {
    suite: 'objects',
    tests: ['other patches of a custom kind', 'methods that are not there'],
    why: 'Server-side apply is not served, so it is not named among the accepted patches.',
    edit: replace(', application/apply-patch+yaml', ''),
  },
  {
    suite: 'objects',
    tests: ['media types of an answer'],
    why: 'Answers are JSON only; every client takes it.',
    edit: replace(', application/yaml, application/vnd.kubernetes.protobuf', ''),
  },
  {
    suite: 'watches',
    tests: ['a version that is gone'],
    why: 'A fresh embedded server still has its whole history; what it does once that is compacted is tested beside it.',
    edit: (outcomes) => {
      for (const outcome of outcomes) outcome.body = [];
    },
  },
];
