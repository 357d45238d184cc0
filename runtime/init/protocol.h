/* Numbers of the protocol: docs/protocol.md. They are never reused for something else. */
#ifndef HF_PROTOCOL_H
#define HF_PROTOCOL_H

/* 2: HEARTBEAT */
#define HF_PROTOCOL 2

enum hf_type {
  /* both layers */
  T_HELLO = 0x01,
  T_ERROR = 0x02,
  T_PING = 0x03,
  T_PONG = 0x04,
  /* agent -> probe, channel 0 */
  T_READ_FILES = 0x10,
  T_PROCESS = 0x11,
  T_STATFS = 0x12,
  T_LISTEN = 0x13,
  T_UNLISTEN = 0x14,
  T_LIST = 0x15,
  T_REMOVE_CGROUP = 0x16,
  /* probe -> agent, channel 0 */
  T_REPLY = 0x1f,
  /* agent <-> probe, channel of a connection */
  T_OPEN = 0x20,
  T_DATA = 0x21,
  T_WINDOW = 0x22,
  T_CLOSE = 0x23,
  /* agent -> init */
  T_START = 0x30,
  T_SIGNAL = 0x31,
  T_CREDIT = 0x32,
  T_STDIN = 0x33,
  T_RESIZE = 0x34,
  T_RELEASE = 0x35,
  T_FORGET = 0x36,
  T_TIME_LIMIT = 0x37,
  T_HEARTBEAT = 0x38,
  /* init -> agent */
  T_STARTED = 0x40,
  T_START_FAILED = 0x41,
  T_OUTPUT = 0x42,
  T_STREAM_END = 0x43,
  T_EXITED = 0x44,
  T_OUTSIDE_SIGNAL = 0x45,
  T_STDIN_CREDIT = 0x46,
  T_TIME_LIMIT_SET = 0x47,
  T_HEARTBEAT_SET = 0x48,
  T_FENCED = 0x49,
};

enum hf_tag {
  F_PROTOCOL = 1,
  F_BUILD = 2,
  F_BOOT_ID = 3,
  F_CGROUP_VERSION = 4,
  F_CLOCK_TICKS = 5,
  F_PAGE_SIZE = 6,
  F_REQUEST = 7,
  F_PATH = 8,
  F_FILE = 9, /* nested: PATH and CONTENT or ERRNO */
  F_CONTENT = 10,
  F_ERRNO = 11,
  F_PID = 12,
  F_START_TICKS = 13,
  F_UID = 14,
  F_GID = 15,
  F_NS_PID = 16,
  F_CGROUP = 17,
  F_SANDBOX = 18,
  F_LIMIT = 19,
  F_DATA = 20,
  F_REASON = 21,
  F_REMOVED = 22,
  F_FS_TYPE = 23,
  F_BLOCK_SIZE = 24,
  F_BLOCKS = 25,
  F_BAVAIL = 26,
  F_BFREE = 27,
  F_FILES = 28,
  F_FFREE = 29,
  F_MESSAGE = 30,
  F_TYPE = 31,
  F_CONNECTION = 32,
  F_PROCESS = 33, /* nested: ID, PID, START_TICKS, STATE, ... */
  F_SIGNAL = 34,
  F_ID = 35,
  F_STATE = 36, /* 0 running, 1 exited */
  F_ARG = 37,
  F_ENV = 38,
  F_WORKING_DIR = 39,
  F_ROWS = 40,
  F_COLS = 41,
  F_STDIN = 42,
  F_TIMEOUT_MS = 43,
  F_GRACE_MS = 44,
  F_WINDOW = 45,
  F_STAGE = 46,
  F_STREAM = 47, /* 1 stdout, 2 stderr */
  F_OFFSET = 48,
  F_TOTAL = 49,
  F_EXIT_CODE = 50,
  F_TERM_SIGNAL = 51,
  F_CORE_DUMPED = 52,
  F_STARTED_AT = 53,
  F_ENDED_AT = 54,
  F_MAX_RSS = 55,
  F_USER_MICROS = 56,
  F_SYSTEM_MICROS = 57,
  F_ENDED_BY = 58, /* 0 itself, 1 timeout, 2 agent, 3 outside, 4 fence */
  F_SCOPE = 59,    /* 0 leader, 1 group */
  F_ACKED = 60,
  F_END = 61,
  F_STDIN_RECEIVED = 62,
  F_GATE = 63, /* in HELLO: not init but a gate */
  F_SIGNAL_AT = 64, /* ms of CLOCK_BOOTTIME */
  F_BOOT_MS = 65,   /* the same */
  F_FENCED_AT = 66, /* the same */
};

#endif
