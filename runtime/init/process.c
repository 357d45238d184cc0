#include "process.h"

#include "protocol.h"
#include "util.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Never touched, a page costs nothing; given back when a slot is freed. */
static _Alignas(4096) uint8_t rings[MAX_PROCESSES][3][RING];
struct process processes[MAX_PROCESSES];
/* Ids that are used up though nothing is known of them any more: setup's, and all others up to a highest one. Setup
 * and main may come after processes with higher ids. */
static bool setup_used;
static uint32_t floor_id;

static bool used_before(uint32_t id) { return id > ID_MAIN ? id <= floor_id : id == ID_SETUP && setup_used; }

struct process *process_by_id(uint32_t id) {
  for (int i = 0; i < MAX_PROCESSES; i++)
    if (processes[i].state != P_FREE && processes[i].id == id) return &processes[i];
  return NULL;
}

struct process *process_by_pid(pid_t pid) {
  for (int i = 0; i < MAX_PROCESSES; i++) {
    struct process *p = &processes[i];
    if (p->state != P_FREE && !p->reaped && p->pid == pid) return p;
  }
  return NULL;
}

struct process *process_take(uint32_t id, enum stage *why) {
  *why = STAGE_DUPLICATE;
  if (used_before(id) || process_by_id(id)) return NULL;
  *why = STAGE_FORK;
  for (int i = 0; i < MAX_PROCESSES; i++) {
    struct process *p = &processes[i];
    if (p->state != P_FREE) continue;
    memset(p, 0, sizeof *p);
    p->id = id;
    p->status_fd = p->in.fd = -1;
    p->exit_code = p->term_signal = -1;
    p->reaped = true;
    for (int s = 0; s < 2; s++) {
      p->out[s].fd = -1;
      p->out[s].ring = rings[i][s];
    }
    p->in.ring = rings[i][2];
    return p;
  }
  return NULL;
}

void process_close_fds(struct process *p) {
  int *fds[] = {&p->status_fd, &p->in.fd, &p->out[0].fd, &p->out[1].fd};
  for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
    if (*fds[i] >= 0) close(*fds[i]);
    *fds[i] = -1;
  }
}

void process_free(struct process *p, bool used_up) {
  process_close_fds(p);
  if (used_up && p->id == ID_SETUP) setup_used = true;
  if (used_up && p->id > floor_id) floor_id = p->id;
  madvise(p->out[0].ring, sizeof rings[0], MADV_DONTNEED);
  p->state = P_FREE;
}

bool process_group_held(pid_t pgrp) {
  struct process *p = process_by_pid(pgrp);
  return p && p->state == P_EXITED;
}

void process_signal(struct process *p, int signal, bool group, enum ended_by by) {
  /* Unreaped, the pid is this process's and nobody else's, dead or alive. */
  if (p->reaped || p->pid <= 1) return;
  if (p->state == P_EXITED && !group) return;
  if (p->state != P_EXITED && signal > 0 && signal < MAX_SIGNALS) {
    if (by == BY_OUTSIDE)
      p->outside_at[signal] = boot_ms();
    else if (signal < 64)
      p->signals[by] |= (uint64_t)1 << signal;
  }
  /* Just forked, it has no group of its own yet: what is for the group is for it alone. */
  if (!group || (kill(-p->pid, signal) != 0 && p->state == P_STARTING)) kill(p->pid, signal);
}

int process_limit(struct process *p, uint64_t timeout_ms) {
  if (p->state == P_EXITED) return ESRCH;
  /* What its limit has begun is finished: the group has been asked to end. */
  if (p->kill_at != 0 || (p->signals[BY_TIMEOUT] & (uint64_t)1 << SIGTERM) != 0) return EALREADY;
  p->term_at = timeout_ms == 0 || timeout_ms > UINT64_MAX - p->started_at ? 0 : p->started_at + timeout_ms;
  return 0;
}

static uint64_t micros(struct timeval t) { return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec; }

void process_put_exit(struct writer *w, const struct process *p) {
  if (p->exit_code >= 0) put_u64(w, F_EXIT_CODE, (uint64_t)p->exit_code);
  if (p->term_signal >= 0) put_u64(w, F_TERM_SIGNAL, (uint64_t)p->term_signal);
  put_u64(w, F_CORE_DUMPED, p->core_dumped);
  put_u64(w, F_STARTED_AT, p->started_at);
  put_u64(w, F_ENDED_AT, p->ended_at);
  put_u64(w, F_MAX_RSS, (uint64_t)p->usage.ru_maxrss * 1024);
  put_u64(w, F_USER_MICROS, micros(p->usage.ru_utime));
  put_u64(w, F_SYSTEM_MICROS, micros(p->usage.ru_stime));
  put_u64(w, F_ENDED_BY, (uint64_t)p->ended_by);
  if (p->outside_signal == 0) return;
  put_u64(w, F_SIGNAL, (uint64_t)p->outside_signal);
  put_u64(w, F_SIGNAL_AT, p->outside_at[p->outside_signal]);
}

const char *stage_name(enum stage stage) {
  switch (stage) {
    case STAGE_CHDIR: return "chdir";
    case STAGE_EXEC: return "exec";
    case STAGE_PTY: return "pty";
    case STAGE_DUPLICATE: return "duplicate";
    case STAGE_NONE:
    case STAGE_FORK: break;
  }
  return "fork";
}

void process_put_record(struct writer *w, const struct process *p) {
  put_u64(w, F_ID, p->id);
  put_u64(w, F_PID, (uint64_t)p->pid);
  put_u64(w, F_START_TICKS, p->start_ticks);
  put_u64(w, F_STATE, p->state == P_EXITED);
  put_u64(w, F_STDIN_RECEIVED, p->in.received);
}
