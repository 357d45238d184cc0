/**
 * Where the embedded API may answer otherwise than the recording of a real kube-apiserver, and why. An entry that is
 * no longer needed fails the suite.
 */
export interface Difference {
  suite: string;
  /** The case, or a pattern for several. */
  test: string | RegExp;
  why: string;
}

export const differences: Difference[] = [];
