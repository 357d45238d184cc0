import { describe, expect, it } from 'vitest';
import { ApiError } from './client.ts';
import { LeaderElector, type Lease, LeaseHolder, type LeaseOptions, microTime } from './lease.ts';
import { LeaseObserver } from './lease-observer.ts';
import { LEASES } from './resources.ts';
import { FakeKubeClient } from './testing/fake-client.ts';
import { FakeClock } from './testing/fake-clock.ts';
import { half, silent } from './testing/fixtures.ts';

const ref = { namespace: 'holdfast-system', name: 'node-a' };

function setUp() {
  const clock = new FakeClock();
  const client = new FakeKubeClient({ now: () => clock.now() });
  const contender = (identity: string, options: Partial<LeaseOptions> = {}) => {
    const log: string[] = [];
    let lost: AbortSignal | undefined;
    const stop = new AbortController();
    const holder = new LeaseHolder({
      client,
      clock,
      random: half,
      log: silent,
      ...ref,
      identity,
      ...options,
    });
    const running = holder.run(stop.signal, {
      onHeld: (signal) => {
        lost = signal;
        log.push('held');
        return new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            log.push('lost');
            resolve();
          });
        });
      },
      onRefused: (by) => log.push(`refused by ${by}`),
    });
    return { holder, log, running, stop, lost: () => lost };
  };
  const lease = async (): Promise<Lease> => await client.get<Lease>(LEASES, ref);
  return { clock, client, contender, lease };
}

describe('LeaseHolder', () => {
  it('[K6] a process that was stopped past its lease knows before any timer has its turn, and renews nothing', async () => {
    const { clock, client, contender } = setUp();
    const a = contender('a', { renewDeadlineMs: 10_000, renewEveryMs: 2_000 });
    await clock.advance(0);
    expect(a.holder.leftMs()).toBe(10_000);
    await clock.advance(9_000);
    expect(a.holder.leftMs()).toBeGreaterThan(7_000);
    client.calls.length = 0;
    // Time goes by and nothing here has run.
    clock.leap(60_000);
    expect(a.holder.leftMs()).toBeLessThan(0);
    await clock.advance(0);
    expect(a.log).toEqual(['held', 'lost']);
    expect(client.writes).toEqual([]);
    a.stop.abort();
    await a.running;
  });

  it('[K6] a lease that was deleted under another is not taken before that one can have noticed', async () => {
    const { clock, client, contender } = setUp();
    const a = contender('a');
    await clock.advance(0);
    const b = contender('b');
    await clock.advance(6_000);
    expect(b.log).toEqual(['refused by a']);
    client.before = ({ verb }) => {
      if (verb === 'update') throw new ApiError('down', { code: 500 });
    };
    await client.delete(LEASES, ref);
    await clock.advance(11_000);
    expect(a.log).toEqual(['held', 'lost']);
    expect(b.log).toEqual(['refused by a']);
    a.stop.abort();
    await a.running;
    client.before = undefined;
    await clock.advance(12_000);
    expect(b.log).toEqual(['refused by a', 'held']);
    b.stop.abort();
    await b.running;
  });

  it('[K6] makes the lease, renews it a third of the way, and gives it back at the end', async () => {
    const { clock, client, contender, lease } = setUp();
    const a = contender('a', { labels: { 'holdfast.dev/node': 'node-a' } });
    await clock.advance(0);
    expect(a.holder.held).toBe(true);
    expect((await lease()).spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    expect((await lease()).metadata.labels).toEqual({ 'holdfast.dev/node': 'node-a' });
    client.calls.length = 0;
    await clock.advance(60_000);
    expect(client.calls).toHaveLength(12);
    expect(client.writes).toHaveLength(12);
    a.stop.abort();
    await a.running;
    expect((await lease()).spec).toMatchObject({
      holderIdentity: '',
      leaseDurationSeconds: 15,
      renewTime: '2026-01-01T00:01:00.000000Z',
    });
    expect(a.log).toEqual(['held', 'lost']);
    expect(clock.pending).toBe(0);
  });

  it('[K6] refuses a second of the same node while the first renews, for ever', async () => {
    const { clock, contender, lease } = setUp();
    const a = contender('a');
    await clock.advance(0);
    const b = contender('b');
    await clock.advance(3_600_000);
    expect(b.log).toEqual(['refused by a']);
    expect(a.log).toEqual(['held']);
    expect((await lease()).spec?.leaseTransitions).toBe(0);
    a.stop.abort();
    await a.running;
    await clock.advance(6_000);
    expect(b.log).toEqual(['refused by a', 'held']);
    expect((await lease()).spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    b.stop.abort();
    await b.running;
  });

  it('[K6] takes over from one that died only when it saw no renewal for the whole duration', async () => {
    const { clock, client, contender } = setUp();
    // Written long ago, or by a machine whose clock is behind: that says nothing.
    await client.create<Lease>(LEASES, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: ref,
      spec: { holderIdentity: 'dead', leaseDurationSeconds: 40, renewTime: '2020-01-01T00:00:00.000000Z' },
    });
    const b = contender('b');
    await clock.advance(39_000);
    expect(b.log).toEqual(['refused by dead']);
    clock.jump(86_400_000);
    await clock.advance(900);
    expect(b.log).toEqual(['refused by dead']);
    await clock.advance(6_000);
    expect(b.log).toEqual(['refused by dead', 'held']);
    b.stop.abort();
    await b.running;
  });

  it('[K6] takes its own lease back at once after a restart', async () => {
    const { clock, contender, lease } = setUp();
    const a = contender('a', { releaseOnStop: false });
    await clock.advance(0);
    a.stop.abort();
    await a.running;
    expect((await lease()).spec?.holderIdentity).toBe('a');
    const again = contender('a');
    await clock.advance(0);
    expect(again.log).toEqual(['held']);
    expect((await lease()).spec?.leaseTransitions).toBe(0);
    again.stop.abort();
    await again.running;
  });

  it('[K6] steps down before anybody else may take it when the API fails', async () => {
    const { clock, client, contender } = setUp();
    const a = contender('a');
    await clock.advance(0);
    client.before = () => {
      throw new ApiError('down', { code: 503 });
    };
    await clock.advance(11_999);
    expect(a.log).toEqual(['held']);
    await clock.advance(1);
    expect(a.log).toEqual(['held', 'lost']);
    expect(a.holder.held).toBe(false);
    client.before = undefined;
    await clock.advance(6_000);
    expect(a.log).toEqual(['held', 'lost', 'held']);
    a.stop.abort();
    await a.running;
  });

  it('[K6] steps down in time when the API hangs', async () => {
    const { clock, client, contender } = setUp();
    const a = contender('a');
    await clock.advance(0);
    client.before = () => new Promise(() => {});
    await clock.advance(12_000);
    expect(a.log).toEqual(['held', 'lost']);
    expect(a.lost()?.aborted).toBe(true);
  });

  it('[K6] survives single failures', async () => {
    const { clock, client, contender } = setUp();
    const a = contender('a');
    await clock.advance(0);
    let turn = 0;
    client.before = ({ verb }) => {
      if (verb === 'update' && turn++ % 2 === 0) throw new ApiError('busy', { code: 429 });
    };
    await clock.advance(600_000);
    expect(a.log).toEqual(['held']);
    a.stop.abort();
    await a.running;
  });

  it('[K6] is lost at once when another wrote its name in', async () => {
    const { clock, client, contender, lease } = setUp();
    const a = contender('a');
    await clock.advance(0);
    const now = await lease();
    await client.update(LEASES, { ...now, spec: { ...now.spec, holderIdentity: 'b' } });
    await clock.advance(5_000);
    expect(a.log[1]).toBe('lost');
    expect(String(a.lost()?.reason)).toContain('taken by b');
    a.stop.abort();
    await a.running;
  });

  it('[K6] goes on when somebody touched or deleted the lease', async () => {
    const { clock, client, contender, lease } = setUp();
    const a = contender('a');
    await clock.advance(0);
    await client.patch(LEASES, ref, { metadata: { labels: { x: 'y' } } }, { type: 'merge' });
    await clock.advance(10_000);
    expect((await lease()).metadata.labels).toEqual({ x: 'y' });
    await client.delete(LEASES, ref);
    await clock.advance(10_000);
    expect((await lease()).spec?.holderIdentity).toBe('a');
    a.stop.abort();
    await a.running;
  });

  it('[K6] a clock that jumps changes nothing', async () => {
    const { clock, contender } = setUp();
    const a = contender('a');
    await clock.advance(0);
    const b = contender('b');
    for (const ms of [86_400_000, -172_800_000, 3_600_000]) {
      clock.jump(ms);
      await clock.advance(60_000);
    }
    expect(a.log).toEqual(['held']);
    expect(b.log).toEqual(['refused by a']);
  });
});

describe('LeaderElector', () => {
  it('[K6] never has two leaders, however the API fails', async () => {
    const { clock, client } = setUp();
    let leaders = 0;
    let most = 0;
    let terms = 0;
    const stop = new AbortController();
    const electors = ['a', 'b', 'c'].map((identity) =>
      new LeaderElector({ client, clock, random: half, log: silent, ...ref, identity }).run(
        stop.signal,
        async (lost) => {
          leaders += 1;
          terms += 1;
          most = Math.max(most, leaders);
          await new Promise<void>((resolve) => lost.addEventListener('abort', () => resolve()));
          leaders -= 1;
        },
      ),
    );
    let seed = 1;
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
    let outage = false;
    client.before = () => {
      if (outage || random() < 0.3) throw new ApiError('busy', { code: 500 });
    };
    for (let minute = 0; minute < 120; minute++) {
      outage = random() < 0.3;
      await clock.advance(20_000);
    }
    expect(most).toBe(1);
    expect(terms).toBeGreaterThan(3);
    stop.abort();
    await clock.advance(10_000);
    await Promise.all(electors);
    expect(clock.pending).toBe(0);
  });

  it('[K6] waits for the work of its term before it gives the lease back', async () => {
    const { clock, client, lease } = setUp();
    let end = (): void => {};
    const stop = new AbortController();
    const elector = new LeaderElector({ client, clock, random: half, log: silent, ...ref, identity: 'a' });
    const running = elector.run(stop.signal, () => new Promise<void>((resolve) => (end = resolve)));
    await clock.advance(0);
    expect(elector.leftMs()).toBeGreaterThan(0);
    stop.abort();
    await clock.advance(1_000);
    expect((await lease()).spec?.holderIdentity).toBe('a');
    end();
    await running;
    expect((await lease()).spec?.holderIdentity).toBe('');
  });

  it('gives the lease up when its work fails, and tries again', async () => {
    const { clock, client } = setUp();
    let terms = 0;
    const stop = new AbortController();
    const elector = new LeaderElector({ client, clock, random: half, log: silent, ...ref, identity: 'a' });
    const running = elector.run(stop.signal, async (lost) => {
      terms += 1;
      if (terms === 1) throw new Error('mine');
      await new Promise<void>((resolve) => lost.addEventListener('abort', () => resolve()));
    });
    await clock.advance(6_000);
    expect(terms).toBe(2);
    stop.abort();
    await running;
  });
});

describe('a LeaseHolder that is asked', () => {
  it('[K6] renews before the renewal is due, and tells when that was done', async () => {
    const { clock, client, contender, lease } = setUp();
    const a = contender('a');
    await clock.advance(1000);
    const renewed = a.holder.renewNow();
    await clock.advance(0);
    await renewed;
    expect((await lease()).spec?.renewTime).toBe('2026-01-01T00:00:01.000000Z');
    const { length } = client.writes;
    await clock.advance(4000);
    expect(client.writes).toHaveLength(length);
    a.stop.abort();
    await a.running;
  });

  it('[K6] keeps whoever asked waiting over a failure, without hammering the API', async () => {
    const { clock, client, contender } = setUp();
    const a = contender('a');
    await clock.advance(0);
    let tries = 0;
    client.before = ({ verb }) => {
      if (verb === 'update' && (tries += 1) < 3) throw new Error('no');
    };
    let done = false;
    const renewed = a.holder.renewNow().then(() => (done = true));
    await clock.advance(1000);
    expect([tries, done]).toEqual([1, false]);
    await clock.advance(6000);
    await renewed;
    expect(tries).toBe(3);
    a.stop.abort();
    await a.running;
  });

  it('[K6] tells whoever asked when it loses the lease, and does nothing where it has none', async () => {
    const { clock, client, contender } = setUp();
    const a = contender('a');
    await a.holder.renewNow();
    await clock.advance(0);
    client.before = ({ verb }) => {
      if (verb === 'update') throw new Error('no');
    };
    const renewed = a.holder.renewNow();
    await clock.advance(13_000);
    await renewed;
    expect(a.holder.held).toBe(false);
    a.stop.abort();
    await a.running;
  });

  it('[K6] makes what the lease needs, and the lease, again when somebody has deleted both', async () => {
    const { clock, client, contender, lease } = setUp();
    let made = 0;
    let there = false;
    const a = contender('a', {
      makeNamespace: () => {
        made += 1;
        if (made === 2) return Promise.reject(new Error('not yet'));
        there = true;
        return Promise.resolve();
      },
    });
    client.before = ({ verb, plural }) => {
      if (verb === 'create' && plural === 'leases' && !there)
        throw new ApiError('namespaces "x" not found', { code: 404, reason: 'NotFound' });
    };
    await clock.advance(0);
    expect(made).toBe(1);
    there = false;
    await client.delete(LEASES, ref);
    await clock.advance(20_000);
    expect(made).toBe(3);
    expect((await lease()).spec?.holderIdentity).toBe('a');
    expect(a.log).toEqual(['held']);
    a.stop.abort();
    await a.running;
  });
});

describe('LeaseObserver', () => {
  const lease = (spec: Lease['spec']): Lease => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...ref, uid: 'u' },
    ...(spec && { spec }),
  });

  it('[K6] counts from the last renewal that it saw itself', async () => {
    const clock = new FakeClock();
    const observer = new LeaseObserver(clock);
    const first = lease({ holderIdentity: 'a', leaseDurationSeconds: 40, renewTime: '1' });
    expect(observer.leftMs(first)).toBe(40_000);
    await clock.advance(39_999);
    expect(observer.expired(first)).toBe(false);
    observer.observe(lease({ holderIdentity: 'a', leaseDurationSeconds: 40, renewTime: '2' }));
    await clock.advance(40_000);
    expect(observer.expired(lease({ holderIdentity: 'a', leaseDurationSeconds: 40, renewTime: '2' }))).toBe(
      true,
    );
  });

  it('gives a lease without a duration fifteen seconds', () => {
    expect(new LeaseObserver(new FakeClock()).leftMs(lease(undefined))).toBe(15_000);
  });
});

it('writes times as metav1.MicroTime is written', () => {
  expect(microTime(new Date('2026-01-02T03:04:05.678Z'))).toBe('2026-01-02T03:04:05.678000Z');
});
