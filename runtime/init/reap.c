/*
 * Ends of processes. A leader that has ended stays a zombie until its group is empty, so that its number, which is
 * also the group's, cannot become anyone else's while the group may still have to be signalled.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"
#include "spawn.h"
#include "util.h"

/* A scan reads a file of every process; a fork storm must not make us do more of that than a small part of the time. */
#define REST 20 /* times the CPU time of the last one */
#define REST_MOST_MS 100

static uint64_t scan_at;    /* one is due then; 0: none is */
static uint64_t rest_until; /* no scan before */

uint64_t reap_due(void) { return scan_at; }

static int wait_id(idtype_t type, id_t id, siginfo_t *info, int options, struct rusage *usage) {
  info->si_pid = 0;
  return (int)syscall(SYS_waitid, type, id, info, options, usage);
}

static void collect(pid_t pid) {
  siginfo_t info;
  wait_id(P_PID, (id_t)pid, &info, WEXITED | WNOHANG, NULL);
}

static void failed_start(struct process *p, enum stage stage, int error) {
  p->failed = true;
  p->stage = stage;
  p->error = error;
  p->state = P_EXITED;
  p->ended_at = boot_ms();
  p->exit_code = stage == STAGE_EXEC && (error == ENOENT || error == ENOTDIR) ? 127 : 126;
  process_close_fds(p);
  p->out[STDOUT].end_sent = p->out[STDERR].end_sent = true;
  p->term_at = p->kill_at = 0;
  if (p->id == ID_MAIN) main_ended(p->exit_code);
}

bool resolve_start(struct process *p) {
  struct spawn_failure failure;
  ssize_t n = read(p->status_fd, &failure, sizeof failure);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  struct proc_stat st;
  if (proc_stat_of(p->pid, &st)) p->start_ticks = st.start_ticks;
  close(p->status_fd);
  p->status_fd = -1;
  p->tell_start = true;
  if (n == (ssize_t)sizeof failure)
    failed_start(p, (enum stage)failure.stage, failure.error);
  else
    p->state = P_RUNNING;
  return true;
}

static void note_end(struct process *p) {
  siginfo_t info;
  if (wait_id(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT, &p->usage) != 0 || info.si_pid != p->pid) return;
  if (p->state == P_STARTING) resolve_start(p);
  if (p->state == P_EXITED) return;
  p->state = P_EXITED;
  p->ended_at = boot_ms();
  if (info.si_code == CLD_EXITED)
    p->exit_code = info.si_status;
  else
    p->term_signal = info.si_status;
  p->core_dumped = info.si_code == CLD_DUMPED;
  p->ended_by = judge_end(p);
  p->outside_signal = outside_signal_of_end(p);
  p->tell_exit = true;
  /* After its own end the limit is over; what has begun is finished, for the group. */
  p->term_at = 0;
  if (p->id == ID_MAIN) main_ended(p->exit_code >= 0 ? p->exit_code : 128 + p->term_signal);
}

static bool look_at(pid_t pid, bool alive[MAX_PROCESSES]) {
  struct proc_stat st;
  if (!proc_stat_of(pid, &st)) return true;
  if (st.state == 'Z' || st.state == 'X') {
    if (st.ppid == 1 && !process_by_pid(pid)) collect(pid);
    return true;
  }
  struct process *p = process_by_pid(st.pgrp);
  if (p) alive[p - processes] = true;
  return true;
}

struct entry {
  uint64_t ino;
  int64_t off;
  unsigned short reclen;
  unsigned char type;
  char name[];
};

static bool scan(bool alive[MAX_PROCESSES]) {
  static _Alignas(8) char buf[4096];
  int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  long n;
  while ((n = syscall(SYS_getdents64, fd, buf, sizeof buf)) > 0) {
    for (long at = 0; at < n;) {
      struct entry *e = (struct entry *)(void *)(buf + at);
      uint64_t pid;
      if (parse_number(e->name, 0x7fffffff, &pid)) look_at((pid_t)pid, alive);
      at += e->reclen;
    }
  }
  close(fd);
  return n == 0;
}

static bool any_held(void) {
  for (int i = 0; i < MAX_PROCESSES; i++)
    if (processes[i].state == P_EXITED && !processes[i].reaped) return true;
  return false;
}

static void release_leaders(void) {
  uint64_t now = boot_ms(), begin = cpu_micros();
  bool alive[MAX_PROCESSES] = {false};
  if (!scan(alive)) {
    /* Out of files, say: without knowing, none is let go. */
    scan_at = rest_until = now + 1000;
    return;
  }
  uint64_t rest_ms = (cpu_micros() - begin) * REST / 1000;
  scan_at = 0;
  rest_until = now + (rest_ms < REST_MOST_MS ? rest_ms : REST_MOST_MS);
  for (int i = 0; i < MAX_PROCESSES; i++) {
    struct process *p = &processes[i];
    if (p->state != P_EXITED || p->reaped || alive[i]) continue;
    collect(p->pid);
    p->reaped = true;
    p->kill_at = 0;
    /* Nobody of the group is left to read it. */
    if (p->in.fd >= 0) close(p->in.fd);
    p->in.fd = -1;
    p->in.written = p->in.received;
    p->in.credit_due = p->in.wanted;
    if (p->forgotten) process_free(p, true);
  }
}

/* Everyone else's children come to us too. False: a held leader stands before the rest in the kernel's list. */
static bool reap_strangers(void) {
  for (;;) {
    siginfo_t info;
    if (wait_id(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT, NULL) != 0 || info.si_pid == 0) return true;
    if (process_by_pid(info.si_pid)) return false;
    collect(info.si_pid);
  }
}

void reap(void) {
  for (int i = 0; i < MAX_PROCESSES; i++) {
    struct process *p = &processes[i];
    if (!p->reaped && (p->state == P_STARTING || p->state == P_RUNNING)) note_end(p);
  }
  bool whole = reap_strangers();
  if (!any_held()) return;
  if (boot_ms() < rest_until) {
    scan_at = rest_until;
    return;
  }
  release_leaders();
  if (!whole) reap_strangers();
}

void reap_for_room(void) {
  if (any_held()) release_leaders();
}
