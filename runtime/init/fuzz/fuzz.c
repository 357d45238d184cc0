/*
 * libFuzzer over everything that reads bytes from the wire: the frame parser (the same stream whole and cut must give
 * the same messages), init's messages and the probe's. What would act on the machine is replaced by stubs below.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../frame.h"
#include "../init.h"
#include "../probe.h"
#include "../protocol.h"
#include "../spawn.h"
#include "../util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int fuzz_kill(pid_t pid, int signal);
struct init self;

int fuzz_kill(pid_t pid, int signal) {
  (void)signal;
  assert(pid != 0 && pid != -1 && pid != 1);
  return 0;
}
int connection_fd(void) { return -1; }
void main_ended(int code) { (void)code; }
void reap_for_room(void) {}
int spawn(struct process *p, const struct start *s, int private_fd, enum stage *stage) {
  (void)private_fd;
  for (char **a = s->argv; *a; a++) assert(strlen(*a) < MESSAGE_MAX);
  for (char **e = s->envp; *e; e++) assert(strlen(*e) < MESSAGE_MAX);
  *stage = STAGE_FORK;
  if (s->id % 5 == 4) return EAGAIN;
  p->state = s->id % 2 ? P_RUNNING : P_EXITED;
  p->reaped = p->state == P_EXITED;
  p->pid = 100000 + (pid_t)(s->id % 1000);
  p->tty = s->tty;
  p->in.fd = s->want_stdin ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
  p->in.wanted = s->want_stdin;
  for (int i = 0; i < 2; i++) {
    p->out[i].open = true;
    p->out[i].limit = s->window;
    p->out[i].total = 5000;
  }
  return 0;
}
int pty_resize(int master, unsigned rows, unsigned cols);
int pty_resize(int master, unsigned rows, unsigned cols) { return master >= 0 && rows <= 0xffff && cols <= 0xffff; }
/* The probe's */
const char *cgroup_version(void) { return "v2"; }
int open_readable(const char *path, size_t len) {
  assert(strlen(path) == len);
  return open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
}
int remove_cgroup(const char *path, size_t len) {
  assert(strlen(path) == len);
  return (int)(len % 2);
}

struct digest {
  uint64_t sum;
  int messages;
  bool bad;
};

static void mix(struct digest *d, const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++) d->sum = (d->sum ^ p[i]) * 1099511628211u;
}

/* Feeds the stream in parts of `step` bytes and digests what comes out. */
static struct digest parse(const uint8_t *data, size_t size, size_t step) {
  static uint8_t buf[MESSAGE_MAX + 1];
  struct digest d = {14695981039346656037u, 0, false};
  struct frame_parser p;
  frame_init(&p, buf, MESSAGE_MAX);
  for (size_t from = 0; from < size && !d.bad; from += step) {
    size_t n = size - from < step ? size - from : step;
    for (size_t at = 0, used; at < n; at += used) {
      enum frame_status s = frame_feed(&p, data + from + at, n - at, &used);
      d.bad = s == FRAME_BAD;
      if (d.bad) break;
      if (s != FRAME_MESSAGE) continue;
      d.messages++;
      mix(&d, &p.type, 1);
      mix(&d, buf, p.len);
    }
  }
  return d;
}

static void fuzz_frames(const uint8_t *data, size_t size) {
  struct digest whole = parse(data, size, size + 1), cut = parse(data, size, 1), odd = parse(data, size, 7);
  assert(whole.sum == cut.sum && whole.messages == cut.messages && whole.bad == cut.bad);
  assert(whole.sum == odd.sum && whole.messages == odd.messages && whole.bad == odd.bad);
}

static void fuzz_messages(const uint8_t *data, size_t size, bool probe) {
  static uint8_t buf[MESSAGE_MAX + 1], out_buf[MESSAGE_MAX + 1048576];
  struct writer out = {out_buf, 0, sizeof out_buf, false};
  struct frame_parser p;
  int pair[2];
  frame_init(&p, buf, MESSAGE_MAX);
  if (probe) {
    static struct facts peer;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0) return;
    channel_open(&out, pair[0], "one", &peer);
  } else
    messages_connected();
  for (size_t at = 0, used; at < size; at += used) {
    enum frame_status s = frame_feed(&p, data + at, size - at, &used);
    if (s == FRAME_BAD) break;
    if (s != FRAME_MESSAGE) continue;
    if (!probe)
      messages_handle(&out, p.type, p.channel, buf, p.len);
    else if (p.type >= T_DATA && p.type <= T_CLOSE)
      channel_message(&out, p.type, channels ? channels->number - (p.channel & 1) : p.channel, buf, p.len);
    else
      answer_request(&out, p.type, buf, p.len);
    for (int i = 0; i < 300 && !probe && messages_next(&out); i++)
      if (out.len > MESSAGE_MAX) out.len = 0;
    assert(!out.overflow);
    /* What is said must itself be frames. */
    assert(!parse(out_buf, out.len, out.len + 1).bad);
    out.len = 0;
  }
  if (probe) {
    channel_close_sandbox(&out, "one", "done");
    channels_sweep();
    close(pair[1]);
  }
  for (int i = 0; i < MAX_PROCESSES; i++)
    if (processes[i].state != P_FREE) process_free(&processes[i], false);
  self.fence_at = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  switch (data[0] % 3) {
    case 0: fuzz_frames(data + 1, size - 1); break;
    case 1: fuzz_messages(data + 1, size - 1, false); break;
    default: fuzz_messages(data + 1, size - 1, true);
  }
  return 0;
}
