import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXPANDED_MAX_BYTES, expandMain, expandSetup } from './expansion.ts';

const x = (length: number): string => 'x'.repeat(length);

describe('variables in a command', () => {
  it('[K1] are put in for $(NAME), those before it in each other too; what is unknown stays', () => {
    const env = [
      { name: 'A', value: '$(B)1$(B)' },
      { name: 'B', value: '$(A)2' },
      { name: 'C' },
      { name: 'a.b-c', value: '$$(B)' },
    ];
    expect(
      expandMain({
        env,
        command: ['$(A)/$(B)', '$(UNKNOWN)', '$$(A)', '$$$(B)', 'cost: 5$', '$(', '$(C)'],
        args: ['$(a.b-c)'],
      }),
    ).toEqual({
      env: new Map([
        ['A', '$(B)1$(B)'],
        ['B', '$(B)1$(B)2'],
        ['C', ''],
        ['a.b-c', '$(B)'],
      ]),
      command: ['$(B)1$(B)/$(B)1$(B)2', '$(UNKNOWN)', '$(A)', '$$(B)1$(B)2', 'cost: 5$', '$(', ''],
      args: ['$(B)'],
    });
  });

  it('[K1] of setup lie over those of the sandbox', () => {
    expect(
      expandSetup({
        env: [{ name: 'A', value: '1' }],
        setup: {
          command: ['$(A)$(B)'],
          env: [
            { name: 'B', value: '$(A)2' },
            { name: 'A', value: '3' },
          ],
        },
      }),
    ).toEqual({
      env: new Map([
        ['A', '3'],
        ['B', '12'],
      ]),
      command: ['312'],
      args: [],
    });
  });

  it('without any there is nothing', () => {
    expect(expandMain({})).toEqual({ env: new Map(), command: [], args: [] });
    expect(expandSetup({})).toEqual({ env: new Map(), command: [], args: [] });
  });
});

describe('an expansion that grows', () => {
  it('[K1] without bound ends at once, with the field at which it was too much', () => {
    const env = [
      { name: 'A', value: x(1000) },
      { name: 'B', value: '$(A)'.repeat(1000) },
      { name: 'C', value: '$(B)'.repeat(50) },
      { name: 'D', value: '$(C)'.repeat(50) },
    ];
    expect(expandMain({ env })).toEqual({ tooLong: 'spec.env[2].value' });
    expect(expandMain({ env: env.slice(0, 2), command: ['a', '$(B)'] })).toEqual({
      tooLong: 'spec.command[1]',
    });
    expect(expandMain({ env: env.slice(0, 1), args: ['$(A)', '$(A)'.repeat(1100)] })).toEqual({
      tooLong: 'spec.args[1]',
    });
    expect(expandSetup({ env: env.slice(0, 2), setup: { command: ['a'], env: env.slice(2) } })).toEqual({
      tooLong: 'spec.setup.env[0].value',
    });
    expect(expandSetup({ env: env.slice(0, 2), setup: { command: ['$(B)'] } })).toEqual({
      tooLong: 'spec.setup.command[0]',
    });
  });

  it.each([
    ['one byte', 'x'],
    ['more bytes than characters', '\u00e9'],
  ])('[K1] may come to the bound exactly, in characters of %s', (_, character) => {
    const per = Buffer.byteLength(character);
    const name = 'AA=';
    const room = EXPANDED_MAX_BYTES - name.length;
    const value = x(room % per) + character.repeat(Math.floor(room / per));
    expect(expandMain({ env: [{ name: 'AA', value }] })).toHaveProperty('env');
    expect(expandMain({ env: [{ name: 'AA', value: `${value}x` }] })).toEqual({
      tooLong: 'spec.env[0].value',
    });
    expect(expandMain({ env: [{ name: 'AA', value }], args: ['', 'x'] })).toEqual({
      tooLong: 'spec.args[1]',
    });
  });

  it('[K1] is never more than the bound, whatever the variables say of each other', () => {
    const name = fc.constantFrom('A', 'B', 'C', 'D');
    const part = fc.oneof(
      name.map((one) => `$(${one})`),
      fc.constantFrom('$$', '$', '(', ')', 'x', x(1000), '$(E)'),
    );
    const text = fc
      .tuple(fc.array(part, { maxLength: 8 }), fc.constantFrom(1, 10, 300))
      .map(([parts, count]) => parts.join('').repeat(count));
    const variables = fc.array(fc.record({ name, value: text }), { maxLength: 8 });
    let tooLong = 0;
    let fitting = 0;
    fc.assert(
      fc.property(variables, fc.array(text, { maxLength: 3 }), (env, args) => {
        const made = expandMain({ env, args });
        if ('tooLong' in made) {
          tooLong += 1;
          return;
        }
        fitting += 1;
        const bytes = [...[...made.env].flat(), ...made.args].reduce((sum, one) => sum + one.length, 0);
        expect(bytes).toBeLessThanOrEqual(EXPANDED_MAX_BYTES);
      }),
      { numRuns: 100 },
    );
    expect(tooLong).toBeGreaterThan(0);
    expect(fitting).toBeGreaterThan(0);
  });
});
