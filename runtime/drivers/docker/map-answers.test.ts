import { describe, expect, it } from 'vitest';
import { eventAnswer, imageAnswer, inspectAnswer, listAnswer, volumeAnswer } from './answers.ts';
import { API_CEILING, API_FLOOR, compareVersions, negotiate } from './api-version.ts';
import { daemonAddress } from './address.ts';
import { splitReference } from './image-reference.ts';
import { containerInfo, containerSummary, imageInfo, volumeInfo } from './map-container.ts';
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

  it('keeps a long page short, and a long message', () => {
    expect(errorMessage(Buffer.alloc(100_000, 'x'))).toHaveLength(2048);
    expect(errorMessage(Buffer.from(JSON.stringify({ message: 'x'.repeat(5000) })))).toHaveLength(2048);
  });

  it('says which call it was', () => {
    const message = (status: number): string => answerError('GET /x', status, Buffer.from(' gone ')).message;
    expect([message(404), message(302)]).toEqual(['GET /x: gone', 'GET /x: status 302 is no answer (gone)']);
    expect(transportError(Object.assign(new Error('Parse Error'), { code: 'HPE_X' }), 'GET /x').message).toBe(
      'GET /x: the answer is not HTTP (Parse Error)',
    );
    expect(transportError(Object.assign(new Error(''), { code: 'EPIPE' }), 'GET /x').message).toBe(
      'GET /x: EPIPE',
    );
    expect(transportError(Object.assign(new Error('timed out'), { code: 20 }), 'GET /x').message).toBe(
      'GET /x: timed out',
    );
    expect(transportError('odd', 'GET /x').message).toBe('GET /x: odd');
    expect(transportError(undefined, 'GET /x').message).toBe('GET /x: undefined');
  });

  it('keeps what it was caused by', () => {
    for (const code of ['HPE_X', 'EPIPE']) {
      const cause = Object.assign(new Error('x'), { code });
      expect(transportError(cause, 'GET /x').cause).toBe(cause);
    }
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
    'CPU cfs period cannot be less than 1ms (i.e. 1000) or larger than 1s (i.e. 1000000)',
    'Minimum memoryswap limit should be larger than memory limit, see usage',
    'Minimum memory limit can not be less than memory reservation limit, see usage',
    'You should always set the Memory limit when using Memoryswap limit, see usage',
    'Memory limit should be smaller than already set memoryswap limit, update the memory swap at the same time',
    'Your kernel does not support memory limit capabilities',
    'your kernel does not support swap limit capabilities',
    'your kernel does not support PIDs limit capabilities',
    'Your kernel does not support CPU cfs quota',
  ])('[L5] refused for a limit: %s', (message) => {
    expect(isLimitRefusal(message)).toBe(true);
  });

  it.each([
    'invalid mount config for type "bind": bind source path does not exist: /memory',
    'invalid CapAdd',
    'Your kernel does not support AppArmor',
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
    ...[
      'memory.limit_in_bytes: device or resource busy',
      'memory.swap.max: permission denied',
      'memory.memsw.limit_in_bytes: no such file or directory',
      'cpu.max: invalid argument',
      'cpu.cfs_quota_us: invalid argument',
      'pids.max: no such file or directory',
    ].map((end): [number, string, string] => [500, `failed to write:\n${end}`, 'Unenforceable']),
    [500, 'error setting cgroup config:\nwrite memory.memsw.limit_in_bytes', 'Unenforceable'],
    [500, 'cgroup: cannot write cpu.cfs_period_us', 'Unenforceable'],
    [500, 'the memory controller is missing', 'Unenforceable'],
    [500, 'the pids controller\nis not enabled', 'Unenforceable'],
    [500, 'cgroup: cannot write cgroup.procs', 'StartFailed'],
    [500, 'no such container: x', 'StartFailed'],
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

  it.each(['create', 'start', 'oom', 'kill', 'die', 'stop', 'pause', 'unpause', 'update', 'destroy'])(
    '%s is known',
    (action) => {
      expect(event(action).action).toBe(action);
    },
  );

  it('have no label by any name that Docker uses for something else', () => {
    const attributes = {
      image: 'i',
      name: 'n',
      exitCode: '3',
      signal: '9',
      execID: 'e',
      execDuration: '1',
      a: 'b',
    };
    expect(event('stop', attributes).labels).toEqual({ a: 'b' });
  });

  it('of a time that is cut in the middle of a millisecond are in that millisecond', () => {
    const answer = eventAnswer.parse({
      Action: 'start',
      Actor: { ID: 'c', Attributes: {} },
      timeNano: 1_999_999,
    });
    expect(runtimeEvent(answer).timeMs).toBe(1);
  });

  it('without any time are of the beginning of time', () => {
    const answer = eventAnswer.parse({ Action: 'start', Actor: { ID: 'c', Attributes: {} } });
    expect(runtimeEvent(answer).timeMs).toBe(0);
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

  it('is read where the daemon leaves out the flag, and where the container never ran', () => {
    const { OOMKilled: _, ...without } = state;
    const never = { ...without, Status: 'created', StartedAt: '', FinishedAt: '2026-01-01T00:00:01Z' };
    expect(containerInfo(inspectAnswer.parse({ ...answer, Name: 'a/b', State: never }))).toMatchObject({
      name: 'a/b',
      oomKilled: false,
      startedAt: undefined,
      finishedAt: '2026-01-01T00:00:01Z',
    });
  });

  it('of lists, images and volumes is read', () => {
    const [listed] = listAnswer.parse([
      { Id: 'a', Names: ['/n', '/m'], Labels: { l: '1' }, State: 'running' },
    ]);
    expect(listed && containerSummary(listed)).toEqual({
      id: 'a',
      name: 'n',
      labels: { l: '1' },
      state: 'running',
    });
    const [nameless] = listAnswer.parse([{ Id: 'a', Names: [], Labels: {}, State: 'running' }]);
    expect(nameless && containerSummary(nameless).name).toBe('');
    expect(volumeInfo(volumeAnswer.parse({ Name: 'v', Labels: null, Mountpoint: '/m' }))).toEqual({
      name: 'v',
      labels: {},
      mountpoint: '/m',
    });
    const config = { Entrypoint: ['/e'], Cmd: ['c'], Env: ['A=b'], WorkingDir: '/w', User: 'u' };
    expect(imageInfo(imageAnswer.parse({ Id: 'i', Architecture: 'arm64', Config: config }))).toEqual({
      id: 'i',
      entrypoint: ['/e'],
      command: ['c'],
      env: ['A=b'],
      workingDir: '/w',
      user: 'u',
      architecture: 'arm64',
    });
    for (const Config of [null, {}, { Entrypoint: null, Cmd: null, Env: null }])
      expect(imageInfo(imageAnswer.parse({ Id: 'i', Architecture: 'arm64', Config }))).toMatchObject({
        entrypoint: [],
        command: [],
        env: [],
        workingDir: '',
        user: '',
      });
  });

  it('[L7] a state we do not know is no answer', () => {
    const odd = { ...answer, State: { ...state, Status: 'levitating' } };
    expect(inspectAnswer.safeParse(odd).success).toBe(false);
  });
});
