/*
 * One a container runtime: answers the agent's questions about the kernel and carries the sandboxes' streams.
 * It has no state that matters; when it is gone, a new one is made and the inits dial again.
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "protocol.h"
#include "util.h"

/* Above it nothing is read that could add to it; the longest reply still fits on top. */
#define OUT_FULL 131072u
#define OUT_CAP (OUT_FULL + MESSAGE_MAX + 2 * FRAME_PAYLOAD_MAX)

static uint8_t out_buf[OUT_CAP], in_buf[65536], message[MESSAGE_MAX + 1];
static size_t out_at, in_len, in_at;
static struct writer out = {out_buf, 0, OUT_CAP, false};
static struct frame_parser parser;

static size_t pending(void) { return out.len - out_at; }

static void say_hello(void) {
  char boot[64] = "";
  if (read_file("/proc/sys/kernel/random/boot_id", boot, sizeof boot) > 0) boot[strcspn(boot, "\n")] = 0;
  size_t at = message_begin(&out, T_HELLO, 0);
  put_u64(&out, F_PROTOCOL, HF_PROTOCOL);
  put_str(&out, F_BUILD, HF_BUILD);
  put_str(&out, F_BOOT_ID, boot);
  put_str(&out, F_CGROUP_VERSION, cgroup_version());
  put_u64(&out, F_CLOCK_TICKS, (uint64_t)sysconf(_SC_CLK_TCK));
  put_u64(&out, F_PAGE_SIZE, (uint64_t)sysconf(_SC_PAGESIZE));
  message_end(&out, at);
}

static void flush(void) {
  while (pending() > 0) {
    ssize_t n = write(1, out_buf + out_at, pending());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) _exit(0); /* the agent is gone */
    out_at += (size_t)n;
  }
  if (out_at > 0) {
    memmove(out_buf, out_buf + out_at, pending());
    out.len -= out_at;
    out_at = 0;
  }
}

static void handle_message(void) {
  uint8_t type = parser.type;
  if (type == T_DATA || type == T_WINDOW || type == T_CLOSE) {
    channel_message(&out, type, parser.channel, message, parser.len);
    return;
  }
  if (type == T_HELLO || type == T_ERROR) return;
  if (type == T_PING) {
    size_t at = message_begin(&out, T_PONG, 0);
    if (parser.len <= 64 && out.cap - out.len > 64) {
      memcpy(out.buf + out.len, message, parser.len);
      out.len += parser.len;
    }
    message_end(&out, at);
    return;
  }
  answer_request(&out, type, message, parser.len);
}

static void handle_buffered(void) {
  while (in_at < in_len && pending() < OUT_FULL) {
    size_t used;
    enum frame_status s = frame_feed(&parser, in_buf + in_at, in_len - in_at, &used);
    in_at += used;
    if (s == FRAME_BAD) {
      complain("what came from the agent is not the protocol", parser.error);
      _exit(65);
    }
    if (s == FRAME_MESSAGE) handle_message();
  }
}

static void read_agent(void) {
  handle_buffered();
  if (in_at < in_len || pending() >= OUT_FULL) return;
  ssize_t n = read(0, in_buf, sizeof in_buf);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) _exit(0);
  in_at = 0;
  in_len = (size_t)n;
  handle_buffered();
}

struct watch {
  struct channel *channel;
  struct sandbox *sandbox;
};
static struct pollfd *fds;
static struct watch *watches;
static size_t watched, room;

static void watch(int fd, int events, struct channel *c, struct sandbox *s) {
  if (watched == room) {
    room = room ? room * 2 : 64;
    fds = realloc(fds, room * sizeof *fds);
    watches = realloc(watches, room * sizeof *watches);
    if (!fds || !watches) _exit(71);
  }
  fds[watched] = (struct pollfd){.fd = fd, .events = (short)events};
  watches[watched++] = (struct watch){c, s};
}

/* How long to sleep at most: until a sandbox that was noisy is listened to again. */
static int watch_all(uint64_t now) {
  bool full = pending() >= OUT_FULL;
  int timeout = -1;
  watched = 0;
  watch(in_at < in_len || full ? -1 : 0, POLLIN, NULL, NULL);
  watch(1, pending() > 0 ? POLLOUT : 0, NULL, NULL);
  for (struct channel *c = channels; c; c = c->next) {
    int events = (!full && channel_wants_read(c) ? POLLIN : 0) | (!full && channel_wants_write(c) ? POLLOUT : 0);
    if (events != 0) watch(c->fd, events, c, NULL);
  }
  for (struct sandbox *s = sandboxes; s && !full; s = s->next) {
    if (s->quiet_until <= now)
      watch(s->listener, POLLIN, NULL, s);
    else if (timeout < 0 || (int)(s->quiet_until - now) < timeout)
      timeout = (int)(s->quiet_until - now);
  }
  return timeout;
}

static void serve(const struct watch *w, short revents, uint64_t now) {
  static struct facts peer;
  if (w->channel && w->channel->fd >= 0) {
    if ((revents & POLLOUT) != 0) channel_write(&out, w->channel);
    if ((revents & (POLLIN | POLLHUP | POLLERR)) != 0 && channel_wants_read(w->channel)) channel_read(&out, w->channel);
  }
  if (w->sandbox) {
    int fd = sandbox_accept(w->sandbox, &peer, now);
    if (fd >= 0) channel_open(&out, fd, w->sandbox->id, &peer);
  }
}

static _Noreturn void run(void) {
  for (size_t first = 2;; first++) {
    channels_sweep();
    int timeout = watch_all(boot_ms());
    if (poll(fds, watched, timeout) < 0 && errno != EINTR) _exit(71);
    if ((fds[1].revents & (POLLERR | POLLNVAL)) != 0) _exit(0);
    uint64_t now = boot_ms();
    /* Each round begins with another one, and stops when the agent does not read: nobody is always last. */
    for (size_t i = 0, n = watched - 2; i < n && pending() < OUT_FULL; i++) {
      size_t at = 2 + (first + i) % n;
      if (fds[at].revents != 0) serve(&watches[at], fds[at].revents, now);
    }
    flush();
    /* Last, because a request may end sandboxes and channels that were polled above. */
    if (fds[0].revents != 0 || in_at < in_len) read_agent();
    flush();
  }
}

int probe_main(int argc, char **argv) {
  const char *dir = "/.holdfast/sandboxes";
  if (argc == 4 && strcmp(argv[2], "--sandboxes") == 0)
    dir = argv[3];
  else if (argc != 2) {
    complain("usage: probe [--sandboxes DIR]", NULL);
    return 64;
  }
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_NAME, "holdfast-probe", 0, 0, 0);
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  if (sandboxes_open(dir) != 0) {
    complain(dir, errno_name(errno));
    return 71;
  }
  if (set_nonblocking(0) != 0 || set_nonblocking(1) != 0) {
    complain("stdin or stdout", errno_name(errno));
    return 71;
  }
  frame_init(&parser, message, MESSAGE_MAX);
  say_hello();
  run();
}
