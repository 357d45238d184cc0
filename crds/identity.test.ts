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
    ['busybox@sha256:00', 'IfNotPresent'],
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
