import { describe, expect, it } from 'vitest';
import { effectivePullPolicy, isRetained, limitsHash, specHash } from './identity.ts';
import { sandboxSpecSchema, type SandboxSpec } from './sandbox.ts';

const base: SandboxSpec = {
  image: 'busybox:1',
  terminationGracePeriodSeconds: 10,
  onNodeLoss: 'Keep',
  onDrift: 'Report',
};
const hashOf = (change: Partial<SandboxSpec>): string => specHash({ ...base, ...change });

describe('identity', () => {
  it.each<[string, Partial<SandboxSpec>]>([
    ['suspend', { suspend: true }],
    ['the TTL', { ttlSecondsAfterFinished: 1 }],
    ['the deadline', { activeDeadlineSeconds: 1 }],
    ['the grace period', { terminationGracePeriodSeconds: 1 }],
    ['the node selector', { nodeSelector: { a: 'b' } }],
    ['network lists', { network: { setup: { allow: ['a'] }, runtime: { allow: ['b'] } } }],
    ['the policy for a lost node', { onNodeLoss: 'Replace' }],
    ['the policy for drift', { onDrift: 'Stop' }],
    ['resources, which are applied in place', { resources: { memory: '1Gi' } }],
  ])('[K11] stays when only %s changes', (_, change) => {
    expect(hashOf(change)).toBe(specHash(base));
  });

  it.each<[string, Partial<SandboxSpec>]>([
    ['the image', { image: 'busybox:2' }],
    ['the runtime', { runtime: 'docker' }],
    ['the pull policy', { imagePullPolicy: 'Never' }],
    ['the pull secrets', { imagePullSecrets: [{ name: 'a' }] }],
    ['the command', { command: ['a'] }],
    ['the arguments', { args: ['a'] }],
    ['the environment', { env: [{ name: 'A', value: 'b' }] }],
    ['a secret in it', { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }],
    ['the working directory', { workingDir: '/a' }],
    ['the user', { user: '1' }],
    ['a read-only root', { readOnlyRootFilesystem: true }],
    ['the network mode', { network: { mode: 'bridge' } }],
    ['the workspace', { workspace: { path: '/w' } }],
    ['setup', { setup: { command: ['a'] } }],
    ['the time limit of setup', { setup: { command: ['a'], timeoutSeconds: 1 } }],
    ['init', { init: false }],
  ])('[K11] changes with %s', (_, change) => {
    expect(hashOf(change)).not.toBe(specHash(base));
  });

  it.each<[string, Partial<SandboxSpec>]>([
    ['empty lists', { command: [], args: [], env: [], imagePullSecrets: [] }],
    ['defaults', { readOnlyRootFilesystem: false, init: true, workspace: { path: '/workspace' } }],
    ['the default network', { network: { mode: 'none' } }],
    ['the default pull policy', { imagePullPolicy: 'IfNotPresent' }],
    ['empty resources', { resources: {} }],
  ])('[L2] [K11] %s are the same as nothing', (_, change) => {
    expect(hashOf(change)).toBe(specHash(base));
    expect(limitsHash({ ...base, ...change })).toBe(limitsHash(base));
  });

  it('[K11] an absent value of a variable is an empty one', () => {
    expect(hashOf({ env: [{ name: 'A' }] })).toBe(hashOf({ env: [{ name: 'A', value: '' }] }));
  });

  it('[L2] "500m" and "0.5" are the same sandbox', () => {
    expect(limitsHash({ resources: { cpu: '500m', memory: '1Gi' } })).toBe(
      limitsHash({ resources: { memory: '1024Mi', cpu: '0.5' } }),
    );
    expect(limitsHash({ resources: { cpu: '500m' } })).not.toBe(limitsHash({ resources: { cpu: '501m' } }));
    expect(limitsHash({ resources: { cpu: 'x' } })).not.toBe(limitsHash({ resources: { cpu: 'y' } }));
  });

  it('does not depend on the order of fields', () => {
    expect(specHash({ ...base, user: '1', workingDir: '/a' })).toBe(
      specHash({ workingDir: '/a', user: '1', ...base }),
    );
    expect(specHash(base)).toMatch(/^[0-9a-f]{32}$/);
  });

  it('[K11] is the same in every version: else an upgrade would replace every container that runs', () => {
    expect(specHash(base)).toBe('b315a4d0f5fb9b31d6209bb9877db7b8');
    const full: SandboxSpec = {
      ...base,
      runtime: 'docker',
      imagePullPolicy: 'Never',
      imagePullSecrets: [{ name: 's' }],
      command: ['a', 'b'],
      args: ['c', 'd'],
      env: [
        { name: 'A', value: '1' },
        { name: 'B' },
        { name: 'C', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      ],
      workingDir: '/w',
      user: '1',
      readOnlyRootFilesystem: true,
      network: { mode: 'bridge' },
      workspace: { path: '/ws' },
      setup: { command: ['s', 't'], env: [{ name: 'D', value: '2' }], workingDir: '/s', timeoutSeconds: 5 },
      init: false,
    };
    expect(specHash(full)).toBe('4cf352ca35130173e2871374eb8ec236');
    expect(limitsHash({})).toBe('44136fa355b3678a1146ad16f7e8649e');
    expect(limitsHash({ resources: { cpu: '500m', memory: '1Gi', pids: 10 } })).toBe(
      '53ff57f18fc7c3b9a7524dec34b00d38',
    );
    expect(limitsHash({ resources: { memory: null as unknown as string } })).toBe(
      'f560b8c22316bbad9946456d26df478b',
    );
  });

  it.each<[string, Partial<SandboxSpec>, Partial<SandboxSpec>]>([
    ['where one word ends and the next begins', { command: ['a', 'b'] }, { command: ['a,b'] }],
    ['command and arguments', { command: ['a', 'b'] }, { command: ['a'], args: ['b'] }],
    ['the names of variables', { env: [{ name: 'A', value: '1' }] }, { env: [{ name: 'B', value: '1' }] }],
    ['their values', { env: [{ name: 'A', value: '1' }] }, { env: [{ name: 'A', value: '2' }] }],
    ['their order', { env: [{ name: 'A' }, { name: 'B' }] }, { env: [{ name: 'B' }, { name: 'A' }] }],
    [
      'the secret of a variable',
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'l' } } }] },
    ],
    ['the command of setup', { setup: { command: ['a'] } }, { setup: { command: ['b'] } }],
  ])('[K11] tells %s apart', (_, one, other) => {
    expect(hashOf(one)).not.toBe(hashOf(other));
  });

  it('every field of the spec is decided on: in the identity or left out on purpose', () => {
    const identity =
      'runtime image imagePullPolicy imagePullSecrets command args env workingDir user readOnlyRootFilesystem network workspace setup init';
    const leftOut =
      'resources suspend ttlSecondsAfterFinished activeDeadlineSeconds nodeSelector terminationGracePeriodSeconds onNodeLoss onDrift';
    expect(Object.keys(sandboxSpecSchema.shape).sort()).toEqual(`${identity} ${leftOut}`.split(' ').sort());
  });

  it.each([
    ['busybox', 'Always'],
    ['busybox:latest', 'Always'],
    ['localhost:5000/busybox', 'Always'],
    ['localhost:5000/busybox:1', 'IfNotPresent'],
    ['busybox:12', 'IfNotPresent'],
    ['busybox@sha256:00', 'IfNotPresent'],
    ['busybox@sha256:latest', 'IfNotPresent'],
  ])('pulls %s %s by default', (image, policy) => {
    expect(effectivePullPolicy({ image })).toBe(policy);
  });

  it('a sandbox with neither command nor arguments is retained', () => {
    expect(isRetained({})).toBe(true);
    expect(isRetained({ command: [] })).toBe(true);
    expect(isRetained({ args: ['a'] })).toBe(false);
    expect(isRetained({ command: ['a'] })).toBe(false);
  });
});
