/*
 * For an image that insists on being PID 1 itself: waits for START as init does, and then becomes that program. There
 * is no hold, no stream and no report afterwards; the connection's end is the sign that it runs.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol.h"
#include "spawn.h"
#include "util.h"

static _Alignas(4096) uint8_t message[MESSAGE_MAX + 4096];
static struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/.holdfast/run/init.sock"};
static int signals;

/* True when something came on `fd` (-1: only waits). A stop from outside ends it: nothing has run yet. */
static bool wait_for(int fd, int timeout_ms) {
  struct pollfd fds[] = {{.fd = signals, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
  if (poll(fds, 2, timeout_ms) <= 0) return false;
  struct signalfd_siginfo info;
  while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
    if (info.ssi_code == SI_USER && info.ssi_pid == 0 && (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT))
      _exit(128 + (int)info.ssi_signo);
  return fds[1].revents != 0;
}

static int dial(void) {
  for (int backoff = 50;; backoff = backoff < 500 ? backoff * 2 : 1000) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    if (fd >= 0) close(fd);
    wait_for(-1, backoff);
  }
}

static void say(int fd, struct writer *w) {
  (void)!send(fd, w->buf, w->len, MSG_NOSIGNAL);
  w->len = 0;
}

static void hello(int fd, struct writer *w, uint64_t connection) {
  size_t at = message_begin(w, T_HELLO, 0);
  put_u64(w, F_PROTOCOL, HF_PROTOCOL);
  put_str(w, F_BUILD, HF_BUILD);
  put_u64(w, F_UID, geteuid());
  put_u64(w, F_GID, getegid());
  put_u64(w, F_CONNECTION, connection);
  put_u64(w, F_GATE, 1);
  message_end(w, at);
  say(fd, w);
}

static void refuse(int fd, struct writer *w, uint32_t id, const char *stage, int error) {
  size_t at = message_begin(w, T_START_FAILED, id);
  put_str(w, F_STAGE, stage);
  put_str(w, F_ERRNO, errno_name(error));
  message_end(w, at);
  say(fd, w);
}

static void become(int fd, struct writer *w, uint32_t id, size_t len) {
  struct start s = {.id = id};
  if (start_parse(&s, message, len)) {
    refuse(fd, w, id, "exec", EINVAL);
    return;
  }
  const char *stage = "chdir";
  int error = 0;
  if (chdir(s.dir) != 0)
    error = errno;
  else {
    sigset_t none;
    sigemptyset(&none);
    stage = "exec";
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    error = exec_search(s.argv, s.envp);
  }
  refuse(fd, w, id, stage, error);
  _exit(error == ENOENT || error == ENOTDIR ? 127 : 126);
}

static void answer(int fd, struct writer *w, const struct frame_parser *p) {
  if (p->type == T_START) become(fd, w, p->channel, p->len);
  if (p->type == T_RELEASE) _exit(0);
  if (p->type == T_PING || p->type == T_TIME_LIMIT || p->type == T_HEARTBEAT ||
      p->type > T_STDIN_CREDIT) {
    size_t at = message_begin(w, p->type == T_PING ? T_PONG : T_ERROR, p->channel);
    put_u64(w, F_TYPE, p->type);
    message_end(w, at);
    say(fd, w);
  }
}

static void serve(int fd, struct writer *w) {
  static uint8_t in[16384];
  struct frame_parser parser;
  frame_init(&parser, message, MESSAGE_MAX);
  for (;;) {
    if (!wait_for(fd, -1)) continue;
    ssize_t n = recv(fd, in, sizeof in, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    for (size_t at = 0, used; at < (size_t)n; at += used) {
      enum frame_status s = frame_feed(&parser, in + at, (size_t)n - at, &used);
      if (s == FRAME_BAD) return;
      if (s == FRAME_MESSAGE) answer(fd, w, &parser);
    }
  }
}

int gate_main(int argc, char **argv) {
  static uint8_t buf[1024];
  struct writer w = {buf, 0, sizeof buf, false};
  if (argc == 4 && strcmp(argv[2], "--socket") == 0 && strlen(argv[3]) < sizeof address.sun_path)
    strcpy(address.sun_path, argv[3]);
  else if (argc != 2) {
    complain("usage: gate [--socket PATH]", NULL);
    return 64;
  }
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) return 71;
  for (uint64_t connection = 1;; connection++) {
    int fd = dial();
    hello(fd, &w, connection);
    serve(fd, &w);
    close(fd);
    wait_for(-1, 50);
  }
}
