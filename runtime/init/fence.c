/*
 * The fence: a sandbox that may be given to another node ends itself when no heartbeat has come for its time. A
 * heartbeat names a moment of our own clock at which the lease of the agent's node was still to be renewed, so that
 * one that was delayed on its way, by whatever, gives no more time than one that was not.
 */
#include <errno.h>
#include <signal.h>

#include "init.h"
#include "util.h"

int fence_set(bool has_from, uint64_t from, uint64_t timeout_ms) {
  uint64_t now = boot_ms();
  if (self.fenced_at != 0 || fence_due()) return ESHUTDOWN;
  if (timeout_ms == 0) {
    self.fence_at = 0;
    return 0;
  }
  if (!has_from || from > now || timeout_ms > UINT64_MAX - from) return EINVAL;
  /* Time that was given is not taken back: a heartbeat that was overtaken by a later one says nothing new. */
  if (from + timeout_ms > self.fence_at) self.fence_at = from + timeout_ms;
  return 0;
}

bool fence_due(void) { return self.fence_at != 0 && boot_ms() >= self.fence_at; }

void fence_enforce(void) {
  if (fence_due()) {
    self.fenced_at = boot_ms();
    self.fence_at = 0;
    self.tell_fenced = true;
    for (int i = 0; i < MAX_PROCESSES; i++)
      if (processes[i].state == P_RUNNING || processes[i].state == P_STARTING) processes[i].fenced = true;
    main_ended(EXIT_FENCED);
  }
  /* Again each time: nothing that comes in afterwards, by an exec from outside say, stays either. */
  if (self.fenced_at != 0) kill(-1, SIGKILL);
}
