import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { F, PROTOCOL, T } from './protocol.ts';

it('has the same numbers at both ends', () => {
  const header = readFileSync(join(import.meta.dirname, '../init/protocol.h'), 'utf8');
  const numbers = (prefix: string): Record<string, number> =>
    Object.fromEntries(
      [...header.matchAll(new RegExp(`^\\s+${prefix}_(\\w+) = (\\w+),`, 'gm'))].map(([, name, value]) => [
        name,
        Number(value),
      ]),
    );
  expect(numbers('T')).toEqual({ ...T });
  expect(numbers('F')).toEqual({ ...F });
  expect(header).toContain(`#define HF_PROTOCOL ${PROTOCOL}\n`);
});

it('says every number in its description', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/protocol.md'), 'utf8');
  for (const [name, value] of Object.entries(T)) {
    expect(page).toContain(`\`${name}\` 0x${value.toString(16).padStart(2, '0')}`);
  }
  for (const [name, value] of Object.entries(F)) expect(page).toContain(`${value} \`${name}\``);
});
