#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"
#include "protocol.h"
#include "util.h"

int parse_ns_pids(const char *status, uint32_t *pids, int max) {
  const char *p = strstr(status, "\nNSpid:");
  if (!p) return 0;
  int n = 0;
  for (p += 7; *p == '\t' || *p == ' ';) {
    while (*p == '\t' || *p == ' ') p++;
    if (*p < '0' || *p > '9') break;
    uint64_t v = 0;
    for (; *p >= '0' && *p <= '9' && v < 0x7fffffff; p++) v = v * 10 + (uint64_t)(*p - '0');
    if (n < max) pids[n++] = (uint32_t)v;
  }
  return n;
}

static uint32_t parse_uid(const char *status) {
  const char *p = strstr(status, "\nUid:\t");
  return p ? (uint32_t)strtoul(p + 6, NULL, 10) : 0;
}

int facts_of(pid_t pid, struct facts *f) {
  char path[48] = "/proc/", text[16384];
  char *end = put_number(path + 6, (uint64_t)pid);
  struct proc_stat before, after;
  memset(f, 0, sizeof *f);
  f->pid = pid;
  if (!proc_stat_of(pid, &before)) return ESRCH;
  strcpy(end, "/status");
  if (read_file(path, text, sizeof text) < 0) return errno == ENOENT ? ESRCH : errno;
  f->ns_count = parse_ns_pids(text, f->ns_pids, 32);
  f->uid = parse_uid(text);
  strcpy(end, "/cgroup");
  if (read_file(path, f->cgroup, sizeof f->cgroup) < 0) return errno == ENOENT ? ESRCH : errno;
  /* All of it is about one process only if the number was not given to another one meanwhile. */
  if (!proc_stat_of(pid, &after) || after.start_ticks != before.start_ticks) return ESRCH;
  f->start_ticks = after.start_ticks;
  return 0;
}

void put_facts(struct writer *w, const struct facts *f) {
  put_u64(w, F_PID, (uint64_t)f->pid);
  put_u64(w, F_START_TICKS, f->start_ticks);
  put_u64(w, F_UID, f->uid);
  for (int i = 0; i < f->ns_count; i++) put_u64(w, F_NS_PID, f->ns_pids[i]);
  put_str(w, F_CGROUP, f->cgroup);
}
