/*
 * PID 1 of a sandbox: waits for the agent's word, runs what it is told to, and outlives it until the agent has read
 * the kernel's counters. One thread, one poll loop, all memory set aside beforehand.
 */
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "util.h"

struct init self = {.socket_path = "/.holdfast/run/init.sock", .hold_ms = 10000};

void main_ended(int code) {
  if (self.ending) return;
  self.ending = true;
  self.exit_code = code;
  self.hold_until = boot_ms() + self.hold_ms;
}

static _Noreturn void finish(void) {
  connection_flush();
  _exit(self.exit_code); /* the kernel ends everything else in the sandbox */
}

/* From outside the sandbox's PID namespace, that is: from whoever runs `docker stop`. */
static void outside_signal(int signal) {
  self.outside[self.outside_count % MAX_OUTSIDE] = (uint8_t)signal;
  self.outside_at[self.outside_count++ % MAX_OUTSIDE] = boot_ms();
  struct process *p = process_by_id(ID_MAIN);
  if (p) {
    process_signal(p, signal, false, BY_OUTSIDE);
    return;
  }
  /* Without a main process the whole sandbox is meant. */
  for (int i = 0; i < MAX_PROCESSES; i++)
    if (processes[i].state == P_RUNNING) process_signal(&processes[i], signal, true, BY_OUTSIDE);
  if (!asks_to_end(signal)) return;
  main_ended(128 + signal);
  if (!self.any_started) self.released = true; /* nothing to be asked about */
}

static void read_signals(int fd) {
  struct signalfd_siginfo info;
  bool children = false;
  while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
    int signal = (int)info.ssi_signo;
    if (signal == SIGCHLD) children = true;
    /* SI_USER: its sender's pid is the kernel's word; one that was queued with a pid of the sender's choice is not. */
    else if (info.ssi_code == SI_USER && info.ssi_pid == 0)
      outside_signal(signal);
  }
  if (children) reap();
}

static void enforce_times(uint64_t now) {
  for (int i = 0; i < MAX_PROCESSES; i++) {
    struct process *p = &processes[i];
    if (p->state == P_FREE) continue;
    if (p->term_at != 0 && now >= p->term_at) {
      p->term_at = 0;
      p->kill_at = now + p->grace_ms;
      process_signal(p, SIGTERM, true, BY_TIMEOUT);
      process_signal(p, SIGCONT, true, BY_TIMEOUT); /* a stopped one could not end */
    }
    if (p->kill_at != 0 && now >= p->kill_at) {
      p->kill_at = 0;
      process_signal(p, SIGKILL, true, BY_TIMEOUT);
    }
  }
  uint64_t due = reap_due();
  if (due != 0 && now >= due) reap();
  if (connection_fd() < 0 && now >= connection_dial_at()) connection_dial(now);
}

static void earlier(uint64_t *at, uint64_t candidate) {
  if (candidate != 0 && (*at == 0 || candidate < *at)) *at = candidate;
}

static void set_timer(int fd) {
  static uint64_t armed;
  uint64_t at = 0;
  for (int i = 0; i < MAX_PROCESSES; i++) {
    if (processes[i].state == P_FREE) continue;
    earlier(&at, processes[i].term_at);
    earlier(&at, processes[i].kill_at);
  }
  if (self.ending) earlier(&at, self.hold_until);
  earlier(&at, self.fence_at);
  earlier(&at, reap_due());
  earlier(&at, connection_dial_at());
  if (at == armed) return;
  armed = at;
  struct itimerspec t = {.it_value = {(time_t)(at / 1000), (long)(at % 1000) * 1000000}};
  timerfd_settime(fd, TFD_TIMER_ABSTIME, &t, NULL);
}

enum kind { WATCH_SIGNALS, WATCH_TIMER, WATCH_CONNECTION, WATCH_STATUS, WATCH_OUTPUT, WATCH_INPUT };
struct watch {
  enum kind kind;
  struct process *p;
  int stream;
};
static struct pollfd fds[3 + 4 * MAX_PROCESSES];
static struct watch watches[3 + 4 * MAX_PROCESSES];
static nfds_t watched;

static void watch(int fd, int events, enum kind kind, struct process *p, int stream) {
  if (fd < 0) return;
  fds[watched] = (struct pollfd){.fd = fd, .events = (short)events};
  watches[watched++] = (struct watch){kind, p, stream};
}

static void watch_all(int signals, int timer) {
  watched = 0;
  watch(signals, POLLIN, WATCH_SIGNALS, NULL, 0);
  watch(timer, POLLIN, WATCH_TIMER, NULL, 0);
  int events = (connection_wants_read() ? POLLIN : 0) | (connection_wants_write() ? POLLOUT : 0);
  watch(connection_fd(), events, WATCH_CONNECTION, NULL, 0);
  for (int i = 0; i < MAX_PROCESSES; i++) {
    struct process *p = &processes[i];
    if (p->state == P_FREE) continue;
    watch(p->status_fd, POLLIN, WATCH_STATUS, p, 0);
    for (int s = 0; s < 2; s++)
      if (output_wants_read(&p->out[s])) watch(p->out[s].fd, POLLIN, WATCH_OUTPUT, p, s);
    if (p->in.received > p->in.written) watch(p->in.fd, POLLOUT, WATCH_INPUT, p, 0);
  }
}

static void serve(const struct watch *w, int fd) {
  uint64_t ticks;
  switch (w->kind) {
    case WATCH_SIGNALS: read_signals(fd); break;
    case WATCH_TIMER: (void)!read(fd, &ticks, sizeof ticks); break;
    case WATCH_CONNECTION: break; /* read last */
    case WATCH_STATUS:
      if (w->p->status_fd == fd) resolve_start(w->p);
      break;
    case WATCH_OUTPUT:
      if (w->p->out[w->stream].fd == fd) output_read(&w->p->out[w->stream]);
      break;
    case WATCH_INPUT:
      if (w->p->in.fd == fd) input_write(&w->p->in, w->p->tty);
      break;
  }
}

static _Noreturn void run(int signals, int timer) {
  for (;;) {
    set_timer(timer);
    watch_all(signals, timer);
    if (poll(fds, watched, -1) < 0 && errno != EINTR) _exit(70);
    /* Before any word of the agent: after a pause a START may be here that was sent when there was time left. */
    fence_enforce();
    for (nfds_t i = 0; i < watched; i++)
      if (fds[i].revents != 0) serve(&watches[i], fds[i].fd);
    /* The agent's words before our own time limits: after a pause both may be due at once. */
    if (connection_fd() >= 0) connection_read();
    connection_flush();
    uint64_t now = boot_ms();
    enforce_times(now);
    fence_enforce();
    connection_flush();
    if (self.released || (self.ending && now >= self.hold_until)) finish();
  }
}

static bool parse_options(int argc, char **argv) {
  for (int i = 2; i < argc; i += 2) {
    uint64_t ms;
    if (i + 1 >= argc) return false;
    if (strcmp(argv[i], "--socket") == 0 && strlen(argv[i + 1]) < sizeof ((struct sockaddr_un *)0)->sun_path)
      self.socket_path = argv[i + 1];
    else if (strcmp(argv[i], "--hold-ms") == 0 && parse_number(argv[i + 1], 3600000, &ms))
      self.hold_ms = ms;
    else
      return false;
  }
  return true;
}

int init_main(int argc, char **argv) {
  if (!parse_options(argc, argv)) {
    complain("usage: init [--socket PATH] [--hold-ms N]", NULL);
    return 64;
  }
  if (getpid() != 1) {
    complain("init has to be PID 1", NULL);
    return 64;
  }
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_NAME, "holdfast-init", 0, 0, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  signal(SIGPIPE, SIG_IGN);
  int signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  int timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (signals < 0 || timer < 0) {
    complain("signalfd or timerfd", errno_name(errno));
    return 71;
  }
  connection_dial(boot_ms());
  run(signals, timer);
}
