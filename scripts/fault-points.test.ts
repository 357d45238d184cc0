import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedFiles } from './fault-points.ts';

describe('the lists of fault points', () => {
  it.each(generatedFiles())('$path has every step of the sources', ({ path, content }) => {
    expect(readFileSync(join(import.meta.dirname, '..', path), 'utf8')).toBe(content);
    expect((JSON.parse(content) as string[]).length).toBeGreaterThanOrEqual(6);
  });
});
