import { describe, expect, it } from 'vitest';
import type { SandboxSpec } from '../../../crds/sandbox.ts';
import type { ImageInfo } from '../../driver.ts';
import { mainCommand, setupCommand } from './command.ts';

const image: ImageInfo = {
  id: 'sha256:1',
  entrypoint: ['/entry'],
  command: ['default'],
  env: ['PATH=/image/bin', 'FROM_IMAGE=1'],
  workingDir: '/app',
  user: '',
  architecture: 'amd64',
};
const spec = (more: Partial<SandboxSpec>): SandboxSpec => ({
  image: 'x',
  terminationGracePeriodSeconds: 10,
  onNodeLoss: 'Keep',
  onDrift: 'Report',
  ...more,
});

describe('the main command', () => {
  it.each<[string, Partial<SandboxSpec>, string[]]>([
    ['command replaces entry point and arguments of the image', { command: ['a'] }, ['a']],
    ['command and args together', { command: ['a'], args: ['b'] }, ['a', 'b']],
    ['neither leaves what the image has', {}, ['/entry', 'default']],
    ['an empty command is none', { command: [], args: [] }, ['/entry', 'default']],
    ['args alone replace the arguments of the image', { args: ['b'] }, ['/entry', 'b']],
  ])('[K1] is as Kubernetes has it: %s', (_name, more, argv) => {
    expect(mainCommand(spec(more), image).argv).toEqual(argv);
  });

  it('[K1] has the environment of the image under that of the spec', () => {
    const { env } = mainCommand(
      spec({ command: ['a'], env: [{ name: 'FROM_IMAGE', value: '2' }, { name: 'EMPTY' }] }),
      image,
    );
    expect(env).toEqual(['PATH=/image/bin', 'FROM_IMAGE=2', 'EMPTY=']);
  });

  it('has a PATH where the image has none', () => {
    expect(mainCommand(spec({ command: ['a'] }), { ...image, env: [] }).env[0]).toMatch(
      /^PATH=\/usr\/local\/sbin:/,
    );
  });

  it('[K1] puts variables in for $(NAME), and leaves what it does not know', () => {
    const { argv } = mainCommand(
      spec({
        command: ['$(A)/x', '$(UNKNOWN)', '$$(A)', 'cost: 5$'],
        env: [
          { name: 'B', value: 'b' },
          { name: 'A', value: '$(B)a' },
        ],
      }),
      image,
    );
    expect(argv).toEqual(['ba/x', '$(UNKNOWN)', '$(A)', 'cost: 5$']);
  });

  it('[K1] runs in the working directory of the image, or of the spec', () => {
    expect(mainCommand(spec({ command: ['a'] }), image).workingDir).toBe('/app');
    expect(mainCommand(spec({ command: ['a'], workingDir: '/w' }), image).workingDir).toBe('/w');
    expect(mainCommand(spec({ command: ['a'] }), { ...image, workingDir: '' }).workingDir).toBe('/');
  });
});

describe('the setup command', () => {
  it('has its own variables over those of the sandbox, and its own directory', () => {
    const made = setupCommand(
      spec({
        env: [{ name: 'A', value: '1' }],
        setup: { command: ['make', '$(A)$(B)'], env: [{ name: 'B', value: '2' }], workingDir: '/src' },
      }),
      image,
    );
    expect(made).toEqual({
      argv: ['make', '12'],
      env: ['PATH=/image/bin', 'FROM_IMAGE=1', 'A=1', 'B=2'],
      workingDir: '/src',
    });
  });

  it('runs in the directory of the sandbox where it has none of its own', () => {
    const made = (workingDir?: string) =>
      setupCommand(
        spec({ ...(workingDir === undefined ? {} : { workingDir }), setup: { command: ['make'] } }),
        image,
      );
    expect([made('/w').workingDir, made().workingDir]).toEqual(['/w', '/app']);
  });
});

describe('an environment', () => {
  it('[K1] has the default PATH of Docker where the image has none', () => {
    const bare = { ...image, env: [] };
    expect(mainCommand(spec({ command: ['a'] }), bare).env).toEqual([
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ]);
  });

  it('keeps "=" in values, and leaves out lines that are no variables', () => {
    const odd = { ...image, env: ['A=b=c', 'nonsense', '=x', 'PATH=/p'] };
    expect(mainCommand(spec({ command: ['a'] }), odd).env).toEqual(['PATH=/p', 'A=b=c']);
  });

  it('[K1] that grew too long is an error, and no command without it', () => {
    const long = [
      { name: 'A', value: 'x'.repeat(1000) },
      { name: 'B', value: '$(A)'.repeat(1100) },
    ];
    expect(() => mainCommand(spec({ env: long, command: ['a'] }), image)).toThrow(
      'spec.env[1].value: too long once its variables are put in',
    );
  });
});
