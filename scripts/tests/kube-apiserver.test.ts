import { describe, expect, it } from 'vitest';
import { withoutKubeAPIServer } from './kube-apiserver.ts';
import { closingLine, count } from './results.ts';

describe('[K2] a machine that cannot have a kube-apiserver', () => {
  it('counts the part as skipped and says why', () => {
    const result = withoutKubeAPIServer('Go is missing', {});
    expect(result.title).toContain('Go is missing');
    expect(closingLine(count([result]))).toBe('0 passed, 0 failed, 1 skipped');
  });

  it('fails in CI', () => {
    expect(closingLine(count([withoutKubeAPIServer('Go is missing', { CI: 'true' })]))).toBe(
      '0 passed, 1 failed, 0 skipped',
    );
  });
});
