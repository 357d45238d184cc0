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

/** Cases that the embedded API does not pass yet. They must fail: one that passes is to be taken off this list. */
export const gaps: { suite: string; tests: string[]; what: string }[] = [];

/** Replaces a text wherever it stands in the answers. */
function replace(from: string, to: string): Difference['edit'] {
  return (outcomes) => {
    for (const outcome of outcomes)
      outcome.body = JSON.parse(JSON.stringify(outcome.body).replaceAll(from, to));
  };
}

/** Only the first of several errors, up to its mark. */
const firstError: Difference['edit'] = (outcomes) => {
  for (const outcome of outcomes)
    outcome.body = (outcome.body as string[]).map((text) => text.replace(/(\^)\nERROR:[\s\S]*$/, '$1'));
};

export const differences: Difference[] = [
  {
    suite: 'expressions',
    tests: ['refused: "abc', 'refused: if (true) 1'],
    why: 'The parser stops at the first syntax error; ANTLR goes on and finds more.',
    edit: firstError,
  },
  {
    suite: 'expressions',
    tests: ['refused: self.n = 5'],
    why: 'As above, and ANTLR quotes the space after a character that begins no token.',
    edit: (outcomes) => {
      firstError(outcomes);
      replace("at: '= '", "at: '='")(outcomes);
    },
  },
  {
    suite: 'expressions',
    tests: ['refused: self..n'],
    why: 'ANTLR words it by the decision that it could not make.',
    edit: replace("no viable alternative at input '..'", "mismatched input '.' expecting IDENTIFIER"),
  },
  {
    suite: 'objects',
    tests: ['media types of an answer'],
    why: 'Answers are JSON only; every client takes it.',
    edit: replace(', application/yaml, application/vnd.kubernetes.protobuf', ''),
  },
  {
    suite: 'lists',
    tests: ['a state that is gone'],
    why: 'A state that is compacted is gone at once; a kube-apiserver has it in its cache a while longer.',
    edit: (outcomes) => {
      const [page, rest, exact] = outcomes;
      if (page !== undefined)
        Object.assign(page, { code: 410, body: expired(TOO_OLD, { continue: '<continue>' }) });
      if (rest !== undefined)
        rest.body = { names: ['b', 'c', 'd', 'e'], metadata: { resourceVersion: '<rv>' } };
      if (exact !== undefined) {
        const body = expired('The resourceVersion for the provided list is too old.');
        Object.assign(exact, { code: 410, body });
      }
    },
  },
  {
    suite: 'access',
    tests: ['impersonation'],
    why: 'Impersonation needs the right to `impersonate` alone; there is no right to impersonate for some requests only.',
    edit: (outcomes) => {
      const [first, second] = outcomes.slice(-2);
      if (first !== undefined) first.body = forbidden('users', 'alice', 'at the cluster scope');
      if (second !== undefined)
        second.body = forbidden('serviceaccounts', 'robot', 'in the namespace "${ns}"');
    },
  },
];

const TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
  'without the continue parameter, or use the continue token in this response to retrieve the remainder of the ' +
  'results. Continuing with the provided token results in an inconsistent list - objects that were created, ' +
  'modified, or deleted between the time the first chunk was returned and now may show up in the list.';

function expired(message: string, metadata?: object): unknown {
  return {
    apiVersion: 'v1',
    code: 410,
    kind: 'Status',
    message,
    ...(metadata === undefined ? {} : { metadata }),
    reason: 'Expired',
    status: 'Failure',
  };
}

function forbidden(kind: string, name: string, where: string): unknown {
  return {
    apiVersion: 'v1',
    code: 403,
    details: { kind, name },
    kind: 'Status',
    message: `${kind} "${name}" is forbidden: User "nobody" cannot impersonate resource "${kind}" in API group "" ${where}`,
    reason: 'Forbidden',
    status: 'Failure',
  };
}
