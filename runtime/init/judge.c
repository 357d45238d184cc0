/*
 * Who ended a process. A signal counts when the process died of it, or ended by itself upon one that asks to end. From
 * outside come also those that ask for something else, a reload say, at any time in a long life: those never count,
 * and the others only shortly before the end.
 */
#include <signal.h>

#include "init.h"

#define MOMENTS_MS 10000 /* what a runtime gives between asking and killing */

bool asks_to_end(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal == 37 /* SIGRTMIN+3: systemd's halt */;
}

static bool has(const struct process *p, enum ended_by by, int signal) {
  return (p->signals[by] & ((uint64_t)1 << signal)) != 0;
}

static bool recent(const struct process *p, int signal) {
  return p->outside_at[signal] != 0 && p->ended_at - p->outside_at[signal] <= MOMENTS_MS;
}

int outside_signal_of_end(const struct process *p) {
  if (p->term_signal > 0) return recent(p, p->term_signal) ? p->term_signal : 0;
  int last = 0;
  for (int s = 1; s < MAX_SIGNALS; s++)
    if (asks_to_end(s) && recent(p, s) && p->outside_at[s] > p->outside_at[last]) last = s;
  return last;
}

enum ended_by judge_end(const struct process *p) {
  if (p->fenced && p->term_signal == SIGKILL) return BY_FENCE;
  static const enum ended_by order[] = {BY_TIMEOUT, BY_AGENT};
  static const int polite[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM}; /* a program may end itself at these */
  for (size_t i = 0; i < 2; i++) {
    if (p->term_signal > 0 && p->term_signal < 64 && has(p, order[i], p->term_signal)) return order[i];
    if (p->term_signal > 0) continue;
    for (size_t j = 0; j < 4; j++)
      if (has(p, order[i], polite[j])) return order[i];
  }
  return asks_to_end(outside_signal_of_end(p)) ? BY_OUTSIDE : BY_ITSELF;
}
