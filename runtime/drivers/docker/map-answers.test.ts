import { describe, expect, it } from 'vitest';
import { eventAnswer, inspectAnswer } from './answers.ts';
import { API_CEILING, API_FLOOR, compareVersions, negotiate } from './api-version.ts';
import { daemonAddress } from './address.ts';
import { splitReference } from './image-reference.ts';
import { containerInfo } from './map-container.ts';
import { answerError, errorMessage, isLimitRefusal, startFailureCode, transportError } from './map-errors.ts';
import { runtimeEvent, sinceParameter } from './map-event.ts';

describe('the API version', () => {
  it.each([
    ['1.41', '1.41'],
    ['1.43', '1.43'],
    ['1.47', API_CEILING],
    ['1.52', API_CEILING],
    ['2.0', API_CEILING],
  ])('offered %s, %s is spoken', (offered, spoken) => {
    expect(negotiate(offered)).toBe(spoken);
  });

  it('an older daemon is refused by name of what is needed', () => {
    expect(() => negotiate('1.40')).toThrow(
      expect.objectContaining({ code: 'Refused', message: expect.stringContaining(API_FLOOR) }),
    );
  });

  it.each([undefined, '', 'v1.41', '1', '1.41.2'])('%s is no version', (offered) => {
    expect(() => negotiate(offered)).toThrow(expect.objectContaining({ code: 'Unreadable' }));
  });

  it('1.9 is less than 1.41', () => {
    expect(compareVersions('1.9', '1.41')).toBeLessThan(0);
    expect(compareVersions('1.41', '1.41')).toBe(0);
    expect(compareVersions('2.0', '1.41')).toBeGreaterThan(0);
  });
});

describe('the address of a daemon', () => {
  it.each([
    [
      'unix:///run/docker.sock',
      { connect: { socketPath: '/run/docker.sock' }, text: 'unix:///run/docker.sock' },
    ],
    ['tcp://10.0.0.1:2375', { connect: { host: '10.0.0.1', port: 2375 }, host: '10.0.0.1:2375' }],
    ['http://box', { connect: { host: 'box', port: 2375 } }],
    ['tcp://[::1]:99', { connect: { host: '::1', port: 99 }, host: '[::1]:99' }],
  ])('%s', (url, expected) => {
    expect(daemonAddress({ url })).toMatchObject(expected);
  });

  it.each(['ssh://box', 'https://box', 'unix://relative', 'nonsense', ''])('"%s" is refused', (url) => {
    expect(() => daemonAddress({ url })).toThrow(TypeError);
  });

  it('a socket is given by an absolute path', () => {
    expect(daemonAddress({ socketPath: '/x.sock' }).connect).toEqual({ socketPath: '/x.sock' });
    expect(() => daemonAddress({ socketPath: 'x.sock' })).toThrow(TypeError);
  });
});

describe('image references', () => {
  it.each([
    ['busybox', 'busybox', 'latest'],
    ['busybox:1', 'busybox', '1'],
    ['ghcr.io/a/b', 'ghcr.io/a/b', 'latest'],
    ['localhost:5000/a', 'localhost:5000/a', 'latest'],
    ['localhost:5000/a:2', 'localhost:5000/a', '2'],
    ['a@sha256:00', 'a', 'sha256:00'],
    ['localhost:5000/a:2@sha256:00', 'localhost:5000/a', 'sha256:00'],
  ])('%s', (reference, repository, tag) => {
    expect(splitReference(reference)).toEqual({ repository, tag });
  });
});

describe('errors', () => {
  it.each([
    [404, 'NotFound'],
    [409, 'Conflict'],
    [400, 'Refused'],
    [499, 'Refused'],
    [500, 'Failed'],
    [503, 'Failed'],
    [302, 'Unreadable'],
    [600, 'Unreadable'],
  ])('%i is %s', (status, code) => {
    const error = answerError('GET /x', status, Buffer.from('{"message":"because"}'));
    expect(error.code).toBe(code);
    expect(error.message).toContain('because');
  });

  it.each([
    ['{"message":"because"}', 'because'],
    ['{"error":"x"}', '{"error":"x"}'],
    ['<html>', '<html>'],
    ['', 'no message'],
    ['null', 'null'],
  ])('%s says %s', (body, message) => {
    expect(errorMessage(Buffer.from(body))).toBe(message);
  });

  it('keeps a long page short', () => {
    expect(errorMessage(Buffer.alloc(100_000, 'x'))).toHaveLength(2048);
  });

  it('a parser error is Unreadable, another one Unavailable, a DriverError stays', () => {
    const named = (code: string): Error => Object.assign(new Error('x'), { code });
    expect(transportError(named('HPE_INVALID_CONSTANT'), 'GET /x').code).toBe('Unreadable');
    expect(transportError(named('ECONNREFUSED'), 'GET /x').code).toBe('Unavailable');
    expect(transportError('odd', 'GET /x').code).toBe('Unavailable');
    const own = answerError('GET /x', 404, Buffer.alloc(0));
    expect(transportError(own, 'GET /x')).toBe(own);
  });

  it.each([
    'NanoCPUs can not be set, as your kernel does not support CPU CFS scheduler or the cgroup is not mounted',
    'Range of CPUs is from 0.01 to 2.00, as there are only 2 CPUs available',
    'Minimum memory limit allowed is 6MB',
    'CPU cfs quota can not be less than 1ms (i.e. 1000)',
    'Minimum memoryswap limit should be larger than memory limit, see usage',
  ])('[L5] refused for a limit: %s', (message) => {
    expect(isLimitRefusal(message)).toBe(true);
  });

  it.each([
    'invalid mount config for type "bind": bind source path does not exist: /memory',
    'invalid CapAdd',
  ])('refused for something else: %s', (message) => {
    expect(isLimitRefusal(message)).toBe(false);
  });

  it.each([
    [404, 'No such container: x', 'NotFound'],
    [409, 'cannot start a paused container', 'Conflict'],
    [
      400,
      'OCI runtime create failed: exec: "/no": stat /no: no such file or directory: unknown',
      'StartFailed',
    ],
    [404, 'exec: "/no": executable file not found in $PATH', 'StartFailed'],
    [
      500,
      'process_linux.go: setting cgroup config for procHooks process caused: failed to write "33554432": open /sys/fs/cgroup/x/memory.max: no such file or directory',
      'Unenforceable',
    ],
    [500, 'crun: the requested cgroup controller `cpu` is not available: OCI runtime error', 'Unenforceable'],
    [500, 'failed to write /sys/fs/cgroup/pids/x/pids.max: invalid argument', 'Unenforceable'],
    [500, 'no space left on device', 'StartFailed'],
  ])('[L5] a start that fails with %i "%s" is %s', (status, message, code) => {
    expect(startFailureCode(status, message)).toBe(code);
  });
});

describe('events', () => {
  const event = (Action: string, Attributes: Record<string, string> = {}) =>
    runtimeEvent(
      eventAnswer.parse({ Action, Actor: { ID: 'c1', Attributes }, timeNano: 1796052650642162000 }),
    );

  it('have the labels without what Docker puts beside them', () => {
    const attributes = { image: 'i', name: 'n', exitCode: '3', 'holdfast.dev/uid': 'u' };
    expect(event('die', attributes)).toEqual({
      containerID: 'c1',
      labels: { 'holdfast.dev/uid': 'u' },
      action: 'die',
      detail: 3,
      timeMs: 1796052650642,
    });
  });

  it.each([
    ['kill', { signal: '9' }, 9],
    ['kill', {}, undefined],
    ['kill', { signal: 'SIGKILL' }, undefined],
    ['oom', { exitCode: '3' }, undefined],
  ] as const)('%s with %o has the detail %s', (action, attributes, detail) => {
    expect(event(action, attributes).detail).toBe(detail);
  });

  it.each(['exec_create: sh', 'attach', 'health_status: healthy', 'rename'])(
    '%s is another one',
    (action) => {
      expect(event(action).action).toBe('other');
    },
  );

  it('without nanoseconds have whole seconds', () => {
    const answer = eventAnswer.parse({ Action: 'start', Actor: { ID: 'c', Attributes: null }, time: 5 });
    expect(runtimeEvent(answer)).toMatchObject({ timeMs: 5000, labels: {} });
  });

  it.each([
    [0, '0.000000000'],
    [1500, '1.500000000'],
    [1796052650642, '1796052650.642000000'],
    [-5, '0.000000000'],
  ])('since %i ms is %s', (ms, text) => {
    expect(sinceParameter(ms)).toBe(text);
  });
});

describe('inspect', () => {
  const state = {
    Status: 'exited',
    Pid: 0,
    ExitCode: 137,
    OOMKilled: true,
    Error: '',
    StartedAt: '2026-01-01T00:00:00Z',
    FinishedAt: '0001-01-01T00:00:00Z',
  };
  const answer = {
    Id: 'abc',
    Name: '/holdfast-1',
    Image: 'sha256:00',
    State: state,
    Config: { Labels: null },
    HostConfig: { Memory: 67108864, PidsLimit: null },
  };

  it('is read, with what a daemon may leave out', () => {
    expect(containerInfo(inspectAnswer.parse(answer))).toEqual({
      id: 'abc',
      name: 'holdfast-1',
      labels: {},
      imageID: 'sha256:00',
      state: 'exited',
      pid: 0,
      exitCode: 137,
      oomKilled: true,
      error: '',
      startedAt: '2026-01-01T00:00:00Z',
      finishedAt: undefined,
      limits: { memoryBytes: 67108864 },
    });
  });

  it('[L7] a state we do not know is no answer', () => {
    const odd = { ...answer, State: { ...state, Status: 'levitating' } };
    expect(inspectAnswer.safeParse(odd).success).toBe(false);
  });
});
