import { describe, expect, it } from 'vitest';
import type { SandboxSpec } from './sandbox.ts';
import { specProblem } from './spec-problem.ts';

const base: SandboxSpec = {
  image: 'busybox:1',
  terminationGracePeriodSeconds: 10,
  onNodeLoss: 'Keep',
  onDrift: 'Report',
};
const secret = { secretKeyRef: { name: 's', key: 'k' } };

describe('what stops a spec before any node is asked', () => {
  it.each<[string, Partial<SandboxSpec>]>([
    ['nothing', {}],
    ['[K9] empty network lists', { network: { mode: 'none', setup: { allow: [] }, runtime: { allow: [] } } }],
    ['[K9] network lists that are not there', { network: { setup: {} } }],
    ['no pull secrets', { imagePullSecrets: [] }],
    ['a workspace anywhere else', { workspace: { path: '/home/user.d/..data/proc' } }],
    ['setup with init', { setup: { command: ['a'] }, init: true }],
    [
      'variables with values',
      { env: [{ name: 'A', value: '1' }], setup: { command: ['a'], env: [{ name: 'B' }] } },
    ],
    ['a policy for drift that an old object does not have', { onDrift: undefined as unknown as 'Report' }],
  ])('%s: passes', (_, change) => {
    expect(specProblem({ ...base, ...change })).toBeUndefined();
  });

  it.each<[string, Partial<SandboxSpec>, string, string, RegExp]>([
    [
      '[L1] a bad limit',
      { resources: { memory: '4GX' } },
      'InvalidSpec',
      'spec.resources.memory',
      /"4GX".*accepted/,
    ],
    [
      '[L3] an unknown limit',
      { resources: { gpu: 1 } },
      'InvalidSpec',
      'spec.resources.gpu',
      /unknown key "gpu"/,
    ],
    ['what an older schema let through', { image: '' }, 'InvalidSpec', 'spec.image', /spec\.image/],
    [
      'an image that is a path',
      { image: '../../../etc' },
      'InvalidSpec',
      'spec.image',
      /"\.\.\/\.\.\/\.\.\/etc" is refused; accepted: \[HOST/,
    ],
    [
      'a workspace in a folder of the kernel',
      { workspace: { path: '/proc/self' } },
      'InvalidSpec',
      'spec.workspace.path',
      /"\/proc\/self" is refused; accepted: /,
    ],
    [
      'a workspace that goes up',
      { workspace: { path: '/home/../proc' } },
      'InvalidSpec',
      'spec.workspace.path',
      /"\/home\/\.\.\/proc" is refused/,
    ],
    [
      'setup without init',
      { setup: { command: ['a'] }, init: false },
      'InvalidSpec',
      'spec.setup',
      /needs init/,
    ],
    [
      'a value and a source',
      { env: [{ name: 'A', value: '', valueFrom: secret }] },
      'InvalidSpec',
      'spec.env[0]',
      /exclude each other/,
    ],
    [
      '[K1] variables that grow by naming each other',
      {
        env: [
          { name: 'A', value: 'x'.repeat(1000) },
          { name: 'B', value: '$(A)'.repeat(1000) },
          { name: 'C', value: '$(B)$(B)' },
        ],
      },
      'InvalidSpec',
      'spec.env[2].value',
      /more than is accepted: 1048576 bytes/,
    ],
    [
      '[K1] variables that grow in setup',
      {
        env: [{ name: 'A', value: 'x'.repeat(1000) }],
        setup: { command: ['true', '$(A)'.repeat(1100)] },
      },
      'InvalidSpec',
      'spec.setup.command[1]',
      /more than is accepted/,
    ],
    [
      '[K9] hosts for setup',
      { network: { setup: { allow: ['a.b'] } } },
      'NetworkUnsupported',
      'spec.network.setup.allow',
      /\["a\.b"\]/,
    ],
    [
      '[K9] hosts for everything else',
      { network: { runtime: { allow: ['*'] } } },
      'NetworkUnsupported',
      'spec.network.runtime.allow',
      /\["\*"\]/,
    ],
    [
      '[K9] a mode',
      { network: { mode: 'bridge' } },
      'NetworkUnsupported',
      'spec.network.mode',
      /"bridge".*none/,
    ],
    [
      'a secret in the environment',
      { setup: { command: ['a'], env: [{ name: 'A', valueFrom: secret }] } },
      'NotSupported',
      'spec.setup.env[0].valueFrom',
      /: secrets is not supported by this version; give the value itself$/,
    ],
    [
      'pull secrets',
      { imagePullSecrets: [{ name: 'a' }] },
      'NotSupported',
      'spec.imagePullSecrets',
      /: secrets for a registry is not supported by this version; pull the image onto the node, and leave it out$/,
    ],
    [
      'an image that insists on being PID 1',
      { init: false },
      'NotSupported',
      'spec.init',
      /: false is not supported by this version; accepted: true, or leave it out$/,
    ],
    [
      'restoring of limits',
      { onDrift: 'Restore' },
      'NotSupported',
      'spec.onDrift',
      /"Restore".*accepted: Report/,
    ],
  ])('%s: says so and names the field', (_, change, reason, field, message) => {
    const problem = specProblem({ ...base, ...change });
    expect(problem).toMatchObject({ reason, field });
    expect(problem?.message).toMatch(message);
    expect(problem?.message).toContain(field.replace(/\.gpu$/, ''));
  });

  it('cuts a long list of hosts in the message', () => {
    const allow = Array.from({ length: 30 }, (_, i) => `host-${i}.example`);
    const problem = specProblem({ ...base, network: { runtime: { allow } } });
    expect(problem?.message).toContain(`${JSON.stringify(allow).slice(0, 200)} cannot be granted`);
  });
});
