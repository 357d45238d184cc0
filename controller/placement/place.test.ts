import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitsOf, type Limits } from '../../crds/limits.ts';
import { condition, docker, limitsAll, sandboxNode, sandboxSpec, view } from '../testing/objects.ts';
import { cores, size } from './amounts.ts';
import { place } from './place.ts';
import type { NodeView, Placement, Request } from './types.ts';

const Gi = 1024 ** 3;

function request(spec: Parameters<typeof sandboxSpec>[0] = {}): Request {
  const whole = sandboxSpec(spec);
  return { spec: whole, limits: limitsOf(whole) as Limits };
}

const memory4g = request({ resources: { memory: '4g' } });

function messageOf(placement: Placement): string {
  return placement.found ? `found ${placement.node}` : placement.message;
}

describe('placement', () => {
  it('[K4] takes a node that passes every check, and names the runtime', () => {
    expect(place(memory4g, [view(sandboxNode('a'))])).toEqual({ found: true, node: 'a', runtime: 'docker' });
  });

  it('[K4] says so when no agent has registered', () => {
    expect(place(memory4g, [])).toMatchObject({
      found: false,
      reason: 'NoNodes',
      unenforceable: false,
      message: expect.stringContaining('SandboxNode'),
    });
  });

  it.each<[string, NodeView, RegExp]>([
    ['unschedulable', view(sandboxNode('a', { spec: { unschedulable: true } })), /a: it is unschedulable/],
    ['silent', view(sandboxNode('a'), { heartbeat: 'Expired' }), /a: its agent sends no heartbeat/],
    [
      'without a lease',
      view(sandboxNode('a'), { heartbeat: 'Missing' }),
      /a: its agent has sent no heartbeat/,
    ],
    [
      'not yet heard',
      view(sandboxNode('a'), { heartbeat: 'Unproven' }),
      /a: its agent has not been seen alive/,
    ],
    ['stopped', view(sandboxNode('a'), { heartbeat: 'Released' }), /a: its agent was stopped/],
    [
      'not ready',
      view(
        sandboxNode('a', {
          conditions: [condition('Ready', 'False', 'NodeNameTaken', 'another agent has its name')],
        }),
      ),
      /a \(docker\): it is not ready: another agent has its name\./,
    ],
    [
      'silent about being ready',
      view({ ...sandboxNode('a'), status: { runtimes: [docker()] } }),
      /a \(docker\): its agent has not said that it is ready/,
    ],
    ['without a runtime', view(sandboxNode('a', { runtimes: [] })), /a: it has no container runtime/],
    [
      'with a runtime that is not ready',
      view(sandboxNode('a', { runtimes: [docker({ ready: false, message: 'the probe does not run.' })] })),
      /a \(docker\): docker is not ready: the probe does not run\./,
    ],
    [
      'that declined',
      view(sandboxNode('a'), { decline: { about: 'Other', message: 'the disk is odd' } }),
      /a \(docker\): it declined: the disk is odd\./,
    ],
    [
      'with low storage',
      view(
        sandboxNode('a', {
          conditions: [condition('StorageReserveLow', 'True', 'ReserveLow', '900 MiB of 1024 MiB')],
        }),
      ),
      /a \(docker\): its storage reserve is low: 900 MiB of 1024 MiB\./,
    ],
    [
      'that is full of sandboxes',
      view(sandboxNode('a', { spec: { maxSandboxes: 3 } }), {
        load: { sandboxes: 3, cpuMillis: 0, memoryBytes: 0 },
      }),
      /a \(docker\): it has 3 of at most 3 sandboxes \(spec\.maxSandboxes\)\./,
    ],
    [
      'that is too small',
      view(sandboxNode('a', { runtimes: [docker({ memoryBytes: 2 * Gi })] })),
      /a \(docker\): memory 4Gi asked, 2Gi of 2Gi free\./,
    ],
    [
      'whose rest is reserved',
      view(sandboxNode('a', { spec: { reserved: { memory: '5Gi' } } })),
      /a \(docker\): memory 4Gi asked, 3Gi of 8Gi free\./,
    ],
    [
      'whose rest is promised',
      view(sandboxNode('a'), { load: { sandboxes: 1, cpuMillis: 0, memoryBytes: 6 * Gi } }),
      /a \(docker\): memory 4Gi asked, 2Gi of 8Gi free\./,
    ],
  ])('[K4] passes over a node %s, and keeps the reason', (_, node, reason) => {
    const placement = place(memory4g, [node]);
    expect(placement).toMatchObject({ found: false, reason: 'Unschedulable' });
    expect(messageOf(placement)).toMatch(reason);
  });

  it('[K4] takes a node whose labels have what the selector asks, and names what another lacks', () => {
    const wants = request({ nodeSelector: { disk: 'ssd', zone: 'b' } });
    const right = view(sandboxNode('right', { labels: { disk: 'ssd', zone: 'b', more: '1' } }));
    const wrong = view(sandboxNode('wrong', { labels: { disk: 'ssd' } }));
    expect(place(wants, [wrong, right])).toMatchObject({ found: true, node: 'right' });
    expect(messageOf(place(wants, [wrong]))).toContain(
      'wrong: it lacks the label zone=b of spec.nodeSelector.',
    );
  });

  it('[K4] takes the runtime that the spec names', () => {
    const both = view(sandboxNode('a', { runtimes: [docker(), docker({ name: 'podman' })] }));
    expect(place(request({ runtime: 'podman' }), [both])).toMatchObject({ runtime: 'podman' });
    expect(messageOf(place(request({ runtime: 'podman' }), [view(sandboxNode('a'))]))).toContain(
      'a: it has no podman.',
    );
  });

  it('[K4] too large for every node is unschedulable, with cpu and memory in one reason', () => {
    const placement = place(request({ resources: { cpu: 999, memory: '64Gi' } }), [
      view(sandboxNode('a')),
      view(sandboxNode('b')),
    ]);
    expect(placement).toMatchObject({ reason: 'Unschedulable', enforceable: true });
    expect(messageOf(placement)).toBe(
      'None of 2 nodes can take it. a (docker), b (docker): cpu 999 asked, 4 of 4 free; memory 64Gi asked, 8Gi of 8Gi free.',
    );
  });

  it('[K4] a sandbox without limits counts as nothing and is bounded by the number of sandboxes alone', () => {
    const full = { sandboxes: 99, cpuMillis: 4000, memoryBytes: 8 * Gi };
    expect(place(request(), [view(sandboxNode('a'), { load: full })])).toMatchObject({ found: true });
    expect(place(request(), [view(sandboxNode('a'), { load: { ...full, sandboxes: 100 } })])).toMatchObject({
      found: false,
    });
  });

  it('[K4] what a runtime does not say of its size is not held against it', () => {
    const { cpus: _, memoryBytes: __, ...silent } = docker();
    expect(place(memory4g, [view(sandboxNode('a', { runtimes: [silent] }))])).toMatchObject({ found: true });
  });

  it('takes the emptiest node, and of equal ones the first by name', () => {
    const busy = view(sandboxNode('a'), { load: { sandboxes: 1, cpuMillis: 0, memoryBytes: Gi } });
    expect(place(memory4g, [busy, view(sandboxNode('c')), view(sandboxNode('b'))])).toMatchObject({
      node: 'b',
    });
  });

  it('[K4] the order in which nodes come does not matter', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name, i) =>
      view(sandboxNode(name, { spec: { unschedulable: i % 2 === 0 } }), {
        load: { sandboxes: i, cpuMillis: 0, memoryBytes: i * 3 * Gi },
      }),
    );
    fc.assert(
      fc.property(
        fc.shuffledSubarray(nodes, { minLength: 4 }),
        fc.constantFrom('1g', '9g'),
        (shuffled, memory) => {
          const wants = request({ resources: { memory } });
          expect(place(wants, shuffled)).toEqual(place(wants, nodes));
        },
      ),
    );
  });
});

describe('sizes', () => {
  const small = (change: Parameters<typeof docker>[0]): NodeView =>
    view(sandboxNode('a', { runtimes: [docker(change)] }));

  it('[K4] what fits exactly fits', () => {
    const wants = request({ resources: { cpu: 4, memory: '8Gi' } });
    expect(place(wants, [view(sandboxNode('a'))])).toMatchObject({ found: true });
  });

  it.each([
    [{ cpu: '4.001' }, 'The node cannot take it. a (docker): cpu 4.001 asked, 4 of 4 free.'],
    [{ memory: '9Gi' }, 'The node cannot take it. a (docker): memory 9Gi asked, 8Gi of 8Gi free.'],
  ])('[K4] names what is too large and nothing else: %o', (resources, message) => {
    expect(messageOf(place(request({ resources }), [view(sandboxNode('a'))]))).toBe(message);
  });

  it('[K4] reserved CPUs are held back, and a reserve that is no quantity holds nothing back', () => {
    const wants = request({ resources: { cpu: 3 } });
    const reserve = (cpu: string | number): NodeView =>
      view(sandboxNode('a', { spec: { reserved: { cpu } } }));
    expect(messageOf(place(wants, [reserve('1500m')]))).toContain('cpu 3 asked, 2.5 of 4 free');
    expect(place(wants, [reserve(1)])).toMatchObject({ found: true });
    expect(place(wants, [reserve('no')])).toMatchObject({ found: true });
  });

  it('[K4] what is promised beyond all there is leaves nothing, not less', () => {
    const over = { sandboxes: 1, cpuMillis: 9000, memoryBytes: 0 };
    expect(
      messageOf(place(request({ resources: { cpu: 1 } }), [view(sandboxNode('a'), { load: over })])),
    ).toContain('cpu 1 asked, 0 of 4 free');
  });

  it.each<[string, Partial<NodeView['load']>, Parameters<typeof docker>[0]]>([
    ['CPUs', { cpuMillis: 3000 }, {}],
    ['memory', { memoryBytes: 6 * Gi }, {}],
    ['sandboxes', { sandboxes: 60 }, {}],
    ['room for this one', {}, { cpus: 2 }],
  ])('the emptiest is told by %s', (_, load, runtime) => {
    const wants = request({ resources: { cpu: 1, memory: '1g' } });
    const fuller = view(sandboxNode('a', { runtimes: [docker(runtime)] }), {
      load: { sandboxes: 0, cpuMillis: 0, memoryBytes: 0, ...load },
    });
    const other = view(sandboxNode('b'));
    expect(place(wants, [fuller, other])).toMatchObject({ node: 'b' });
    expect(place(wants, [other, fuller])).toMatchObject({ node: 'b' });
  });

  it('of equal runtimes of one node the first by name', () => {
    const both = small({});
    both.node.status?.runtimes?.unshift(docker({ name: 'podman' }));
    expect(place(request(), [both])).toMatchObject({ runtime: 'docker' });
  });

  it('a node without a spec has the defaults, one without labels has none', () => {
    const { spec: _, ...node } = sandboxNode('a');
    const load = { sandboxes: 99, cpuMillis: 0, memoryBytes: 0 };
    expect(place(memory4g, [view(node, { load })])).toMatchObject({ found: true });
    expect(place(memory4g, [view(node, { load: { ...load, sandboxes: 100 } })])).toMatchObject({
      found: false,
    });
    expect(messageOf(place(request({ nodeSelector: { a: 'b', c: 'd' } }), [view(node)]))).toContain(
      'lacks the label a=b, c=d of',
    );
    const { status: __, ...bare } = node;
    expect(messageOf(place(request(), [view(bare)]))).toBe(
      'The node cannot take it. a: it has no container runtime.',
    );
  });
});

describe('limits that cannot be enforced', () => {
  const fix = 'Delegate=cpu memory pids';
  const not = { enforced: 'No', reason: 'no controller', fix } as const;
  const unknown = { enforced: 'Unknown', reason: 'malformed JSON' } as const;
  const without = (name: string): NodeView =>
    view(sandboxNode(name, { runtimes: [docker({ limits: limitsAll(not) })] }));

  it('[L9] names each limit, each node, why, and the fix', () => {
    const wants = request({ resources: { memory: '1g', pids: 64 } });
    const placement = place(wants, [without('b'), without('a')]);
    expect(placement).toMatchObject({
      reason: 'LimitsUnenforceable',
      unenforceable: true,
      enforceable: false,
    });
    expect(messageOf(placement)).toBe(
      'No node can be relied on to enforce memory, pids. a (docker), b (docker): memory: no controller. ' +
        `Fix: ${fix}. pids: no controller. Fix: ${fix}.`,
    );
  });

  it('[L9] gives the general fix where the runtime names none', () => {
    const bare = view(
      sandboxNode('a', { runtimes: [docker({ limits: limitsAll({ enforced: 'No', reason: 'x' }) })] }),
    );
    expect(messageOf(place(memory4g, [bare]))).toMatch(
      /cgroup v2;.*Delegate=cpu memory pids in user@\.service/,
    );
  });

  it.each([
    [{ cpu: 1 }, 'CPUUnenforceable'],
    [{ memory: '1g' }, 'MemoryUnenforceable'],
    [{ pids: 64 }, 'PIDsUnenforceable'],
  ])('[L9] %o: the reason is %s', (resources, reason) => {
    expect(place(request({ resources }), [without('a')])).toMatchObject({ reason, unenforceable: true });
  });

  it('[L8] the default limit on processes is never a reason', () => {
    const noPids = view(sandboxNode('a', { runtimes: [docker({ limits: { ...limitsAll(), pids: not } })] }));
    expect(place(memory4g, [noPids])).toMatchObject({ found: true });
    expect(place(request(), [without('a')])).toMatchObject({ found: true });
  });

  it('[L4] swap that cannot be held is not a reason', () => {
    const noSwap = view(sandboxNode('a', { runtimes: [docker({ limits: { ...limitsAll(), swap: not } })] }));
    expect(place(memory4g, [noSwap])).toMatchObject({ found: true });
  });

  it('[L7] without a readable answer a sandbox with limits stops, one without may run', () => {
    const unread = view(sandboxNode('a', { runtimes: [docker({ limits: limitsAll(unknown) })] }));
    const placement = place(memory4g, [unread]);
    expect(placement).toMatchObject({ reason: 'RuntimeUnreadable', unenforceable: true });
    expect(messageOf(placement)).toContain('memory: no readable answer (malformed JSON); it is asked again.');
    expect(place(request(), [unread])).toMatchObject({ found: true });
    expect(place(memory4g, [unread, without('b')])).toMatchObject({ reason: 'MemoryUnenforceable' });
  });

  it('[L7] a runtime that does not answer at all is one without a readable answer', () => {
    const away = docker({ ready: false, message: 'connection refused', limits: limitsAll(unknown) });
    const node = sandboxNode('a', {
      runtimes: [away],
      conditions: [condition('Ready', 'False', 'RuntimeUnavailable')],
    });
    expect(place(memory4g, [view(node)])).toMatchObject({ reason: 'RuntimeUnreadable', unenforceable: true });
    expect(place(request(), [view(node)])).toMatchObject({ reason: 'Unschedulable' });
  });

  it('[L9] several limits of one runtime, each with its fix, and one that gave no answer', () => {
    const mixed = docker({
      limits: { ...limitsAll(), cpu: not, pids: { enforced: 'Unknown', reason: 'a timeout.' } },
    });
    const small = docker({ name: 'podman', memoryBytes: Gi });
    const node = view(sandboxNode('a', { runtimes: [mixed, small] }));
    const wants = request({ resources: { pids: 9, cpu: 1, memory: '4g' } });
    expect(messageOf(place(wants, [node]))).toBe(
      `The node cannot take it. a (docker): cpu cannot be enforced: no controller. Fix: ${fix}. ` +
        'pids may not be enforced: a timeout. a (podman): memory 4Gi asked, 1Gi of 1Gi free.',
    );
    expect(place(wants, [view(sandboxNode('a', { runtimes: [mixed] }))])).toMatchObject({
      reason: 'LimitsUnenforceable',
      message: `No node can be relied on to enforce cpu, pids. a (docker): cpu: no controller. Fix: ${fix}. pids: no readable answer (a timeout); it is asked again.`,
    });
  });

  it('[L9] a decline names one limit, all that were asked for, or no readable answer', () => {
    const wants = request({ resources: { memory: '1g', cpu: 1 } });
    const declined = (more: object): Placement =>
      place(wants, [
        view(sandboxNode('a'), { decline: { about: 'Limits', message: 'it failed.', ...more } }),
      ]);
    expect(declined({ limit: 'cpu' })).toMatchObject({ reason: 'CPUUnenforceable' });
    expect(declined({})).toMatchObject({ reason: 'LimitsUnenforceable' });
    expect(declined({ unreadable: true })).toMatchObject({ reason: 'RuntimeUnreadable' });
  });

  it('[L9] one node that can makes it a matter of room, not of limits', () => {
    const small = view(sandboxNode('b', { runtimes: [docker({ memoryBytes: Gi })] }));
    const placement = place(memory4g, [without('a'), small]);
    expect(placement).toMatchObject({ reason: 'Unschedulable', unenforceable: false, enforceable: true });
    expect(messageOf(placement)).toBe(
      `None of 2 nodes can take it. a (docker): memory cannot be enforced: no controller. Fix: ${fix}. ` +
        'b (docker): memory 4Gi asked, 1Gi of 1Gi free.',
    );
  });

  it('[L9] a node that could not be asked leaves the question open', () => {
    const silent = view(sandboxNode('a'), { heartbeat: 'Expired' });
    expect(place(memory4g, [silent])).toMatchObject({ reason: 'Unschedulable', enforceable: undefined });
    expect(place(memory4g, [silent, without('b')])).toMatchObject({ reason: 'MemoryUnenforceable' });
  });

  it('[L9] what an agent found at the launch counts more than what it had published', () => {
    const decline = { about: 'Limits', message: 'memory.max is missing', limit: 'memory' } as const;
    const placement = place(request({ resources: { memory: '1g', cpu: 1 } }), [
      view(sandboxNode('a'), { decline }),
    ]);
    expect(placement).toMatchObject({ reason: 'MemoryUnenforceable', unenforceable: true });
    expect(messageOf(placement)).toContain('memory: memory.max is missing.');
    expect(place(request(), [view(sandboxNode('a'), { decline })])).toMatchObject({
      found: false,
      reason: 'Unschedulable',
    });
  });
});

describe('storage', () => {
  it('[S3] names the nodes that are short of it, whether they said so or declined', () => {
    const low = view(
      sandboxNode('a', {
        conditions: [condition('StorageReserveLow', 'True', 'ReserveLow', '900 MiB free')],
      }),
    );
    const declined = view(sandboxNode('b'), { decline: { about: 'Storage', message: '800 MiB free' } });
    expect(place(request(), [low, declined])).toMatchObject({
      storageLow:
        'Free storage on a node, or lower its storage reserve. a: its storage reserve is low: 900 MiB free. b: it declined: 800 MiB free.',
    });
  });

  it('[S3] says nothing of storage where other things were in the way', () => {
    const other = view(sandboxNode('a'), { decline: { about: 'Other', message: 'odd' } });
    const full = view(sandboxNode('b', { spec: { maxSandboxes: 0 } }), {
      decline: undefined,
    });
    expect(place(request(), [other, full])).toMatchObject({ found: false, storageLow: undefined });
    const silent = view(sandboxNode('c'), {
      heartbeat: 'Expired',
      decline: { about: 'Storage', message: 'low' },
    });
    expect(place(request(), [silent])).toMatchObject({ found: false, storageLow: undefined });
  });

  it.each(['False', 'Unknown'] as const)('[S6] a verdict that is %s passes nobody over', (status) => {
    const node = sandboxNode('a', { conditions: [condition('StorageReserveLow', status, 'Unmeasured')] });
    expect(place(request(), [view(node)])).toMatchObject({ found: true });
  });
});

describe('messages', () => {
  it('counts the reasons that do not fit', () => {
    const many = Array.from({ length: 400 }, (_, i) =>
      view(sandboxNode(`n${String(i).padStart(3, '0')}`), {
        decline: { about: 'Other', message: `${i}${'x'.repeat(90)}` },
      }),
    );
    const message = messageOf(place(request(), many));
    expect(message.length).toBeLessThan(17_000);
    expect(message).toMatch(/ \d+ more reasons are not shown\.$/);
  });

  it.each([
    [6 * 1024 ** 2, '6Mi'],
    [1.5 * Gi, '1.5Gi'],
    [1000, '1000'],
    [8_000_000, '7.62Mi'],
    [5000 * 1024 ** 4, '5000Ti'],
  ])('%d bytes are %s', (bytes, text) => {
    expect(size(bytes)).toBe(text);
  });

  it('thousandths of a CPU are decimals', () => {
    expect([cores(500), cores(2000), cores(1234)]).toEqual(['0.5', '2', '1.234']);
  });
});
