import { describe, expect, it } from 'vitest';
import { encodeFields, type FieldList, Fields } from './fields.ts';
import {
  fileReadings,
  heartbeatResult,
  initHello,
  limitResult,
  probeHello,
  processExit,
  processFacts,
  startFailure,
  statfsOf,
  streamName,
} from './messages.ts';
import { F } from './protocol.ts';

const fields = (list: FieldList): Fields => new Fields(encodeFields(list));
const garbage = expect.objectContaining({ name: 'LinkError', code: 'Garbage' });

describe('messages', () => {
  const hello: FieldList = [
    [F.PROTOCOL, 3],
    [F.BUILD, '0123456789abcdef'],
    [F.BOOT_ID, 'boot'],
    [F.CGROUP_VERSION, 'hybrid'],
    [F.CLOCK_TICKS, 100],
    [F.PAGE_SIZE, 4096],
    [200, 'from a newer probe'],
  ];

  it('hello of a probe, what it does not know included', () => {
    expect(probeHello(fields(hello))).toEqual({
      protocol: 3,
      build: '0123456789abcdef',
      bootID: 'boot',
      cgroup: 'hybrid',
      clockTicksPerSecond: 100,
      pageSizeBytes: 4096,
    });
  });

  it.each(['v1', 'v2', 'hybrid', 'none'])('knows cgroups %s', (version) => {
    expect(probeHello(fields([...hello, [F.CGROUP_VERSION, version]])).cgroup).toBe(version);
  });

  it.each<[string, FieldList]>([
    ['no version', []],
    ['version 0', [[F.PROTOCOL, 0]]],
    [
      'an unknown cgroup version',
      [
        [F.PROTOCOL, 1],
        [F.CGROUP_VERSION, 'v3'],
      ],
    ],
  ])('refuses a hello with %s', (_name, list) => {
    expect(() => probeHello(fields(list))).toThrow(garbage);
  });

  it('says what it would have taken', () => {
    const wrong = fields([...hello, [F.CGROUP_VERSION, 'v3']]);
    expect(() => probeHello(wrong)).toThrow('"v3" is none of v1, v2, hybrid, none');
    expect(() => probeHello(fields([]))).toThrow('hello without a protocol version');
  });

  it('facts of a process', () => {
    expect(
      processFacts(
        fields([
          [F.PID, 77],
          [F.START_TICKS, 2n ** 60n],
          [F.UID, 1000],
          [F.NS_PID, 77],
          [F.NS_PID, 1],
          [F.CGROUP, '0::/a\n'],
        ]),
      ),
    ).toEqual({ pid: 77, startTicks: 2n ** 60n, uid: 1000, nsPids: [77, 1], cgroup: '0::/a\n' });
  });

  it('files in order, read or not; an empty file is read', () => {
    const reply = fields([
      [
        F.FILE,
        [
          [F.PATH, '/proc/a'],
          [F.CONTENT, ''],
        ],
      ],
      [
        F.FILE,
        [
          [F.PATH, '/proc/b'],
          [F.ERRNO, 'ENOENT'],
        ],
      ],
    ]);
    expect(fileReadings(reply)).toEqual([
      { path: '/proc/a', content: '' },
      { path: '/proc/b', errno: 'ENOENT' },
    ]);
  });

  it('a filesystem', () => {
    const tags = [F.FS_TYPE, F.BLOCK_SIZE, F.BLOCKS, F.BAVAIL, F.BFREE, F.FILES, F.FFREE];
    expect(statfsOf(fields(tags.map((tag, i) => [tag, i + 1] as const)))).toEqual({
      type: 1,
      blockSize: 2n,
      blocks: 3n,
      bavail: 4n,
      bfree: 5n,
      files: 6n,
      ffree: 7n,
    });
  });

  const exit: FieldList = [
    [F.EXIT_CODE, 3],
    [F.CORE_DUMPED, false],
    [F.STARTED_AT, 10],
    [F.ENDED_AT, 20],
    [F.MAX_RSS, 4096],
    [F.USER_MICROS, 5],
    [F.SYSTEM_MICROS, 6],
    [F.ENDED_BY, 0],
  ];
  const exited = {
    exitCode: 3,
    signal: undefined,
    coreDumped: false,
    startedAtBootMs: 10,
    endedAtBootMs: 20,
    maxRssBytes: 4096,
    userMicros: 5,
    systemMicros: 6,
    endedBy: 'itself',
  };

  it('hello of an init with what it knows', () => {
    const running: FieldList = [
      [F.ID, 2],
      [F.PID, 9],
      [F.START_TICKS, 4],
      [F.STATE, 0],
      [F.STDIN_RECEIVED, 8],
    ];
    const failed: FieldList = [[F.ID, 1], [F.STATE, 1], [F.STAGE, 'exec'], [F.ERRNO, 'ENOENT'], ...exit];
    const message = fields([
      [F.PROTOCOL, 1],
      [F.BUILD, 'b'],
      [F.GATE, 1],
      [F.UID, 1],
      [F.GID, 2],
      [F.CONNECTION, 4],
      [F.PROCESS, running],
      [F.PROCESS, failed],
      [F.SIGNAL, 15],
      [F.SIGNAL_AT, 100],
      [F.SIGNAL, 2],
      [F.SIGNAL_AT, 200],
    ]);
    expect(initHello(message)).toEqual({
      protocol: 1,
      build: 'b',
      gate: true,
      uid: 1,
      gid: 2,
      connection: 4,
      processes: [
        { id: 2, pid: 9, startTicks: 4n, state: 'running', stdinReceived: 8n },
        {
          id: 1,
          pid: 0,
          startTicks: 0n,
          state: 'exited',
          exit: exited,
          failed: { stage: 'exec', errno: 'ENOENT' },
          stdinReceived: 0n,
        },
      ],
      outsideSignals: [15, 2],
      outsideSignalTimes: [100, 200],
    });
    const older = fields([
      [F.PROTOCOL, 1],
      [F.SIGNAL, 15],
    ]);
    expect(initHello(older)).toMatchObject({ outsideSignals: [15] });
    expect(initHello(older)).not.toHaveProperty('outsideSignalTimes');
    expect(initHello(fields([[F.PROTOCOL, 1]])).gate).toBe(false);
  });

  it('hello of an init that has a clock, and of one that has ended what it ran by itself', () => {
    const now = initHello(
      fields([
        [F.PROTOCOL, 1],
        [F.BOOT_MS, 5000],
        [F.FENCED_AT, 4000],
      ]),
    );
    expect(now).toMatchObject({ bootMs: 5000, fencedAtBootMs: 4000 });
    const older = initHello(fields([[F.PROTOCOL, 1]]));
    expect(older).not.toHaveProperty('bootMs');
    expect(older).not.toHaveProperty('fencedAtBootMs');
  });

  it.each<[string, string | undefined, string]>([
    ['taken', undefined, 'changed'],
    ['too late, the time is over', 'EALREADY', 'ending'],
    ['of no process any more', 'ESRCH', 'ended'],
  ])('a change of the time limit that is %s', (_name, errno, result) => {
    expect(limitResult(fields([[F.ERRNO, errno]]))).toBe(result);
  });

  it.each([
    ['taken', undefined, { is: 'taken', bootMs: 7 }],
    ['not taken', 'EINVAL', { is: 'refused', bootMs: 7 }],
    ['too late', 'ESHUTDOWN', { is: 'too-late' }],
  ])('a heartbeat that is %s', (_name, errno, result) => {
    expect(
      heartbeatResult(
        fields([
          [F.BOOT_MS, 7],
          [F.ERRNO, errno],
        ]),
      ),
    ).toEqual(result);
  });

  it('the end of a process, by itself or by a signal', () => {
    expect(processExit(fields(exit))).toEqual(exited);
    expect(
      processExit(
        fields([
          [F.TERM_SIGNAL, 11],
          [F.CORE_DUMPED, true],
          [F.ENDED_BY, 2],
        ]),
      ),
    ).toMatchObject({ exitCode: undefined, signal: 11, coreDumped: true, endedBy: 'agent' });
    expect(processExit(fields(exit))).not.toHaveProperty('outside');
    expect(
      processExit(
        fields([
          [F.EXIT_CODE, 0],
          [F.ENDED_BY, 3],
          [F.SIGNAL, 15],
          [F.SIGNAL_AT, 7],
        ]),
      ),
    ).toMatchObject({ endedBy: 'outside', outside: { signal: 15, atBootMs: 7 } });
  });

  it.each([
    [0, 'itself'],
    [1, 'timeout'],
    [2, 'agent'],
    [3, 'outside'],
    [4, 'fence'],
    [99, 'itself'],
  ])('ended by %d is %s', (number, endedBy) => {
    expect(processExit(fields([[F.ENDED_BY, number]])).endedBy).toBe(endedBy);
  });

  it.each(['chdir', 'exec', 'fork', 'pty', 'duplicate'])('a start that failed at %s', (stage) => {
    expect(
      startFailure(
        fields([
          [F.STAGE, stage],
          [F.ERRNO, 'EIO'],
        ]),
      ),
    ).toEqual({ ok: false, stage, errno: 'EIO' });
  });

  it('refuses a stage that there is not', () => {
    expect(() => startFailure(fields([[F.STAGE, 'later']]))).toThrow(garbage);
  });

  it('the two streams', () => {
    expect([1, 2].map((stream) => streamName(fields([[F.STREAM, stream]])))).toEqual(['stdout', 'stderr']);
  });
});
