#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* strerrorname_np is too new for the older distributions this must build on. */
const char *errno_name(int err) {
  static char other[24];
#define E(name) \
  case name:    \
    return #name;
  switch (err) {
    E(EPERM) E(ENOENT) E(ESRCH) E(EINTR) E(EIO) E(ENXIO) E(E2BIG) E(ENOEXEC) E(EBADF) E(ECHILD) E(EAGAIN)
    E(ENOMEM) E(EACCES) E(EFAULT) E(EBUSY) E(EEXIST) E(EXDEV) E(ENODEV) E(ENOTDIR) E(EISDIR) E(EINVAL)
    E(ENFILE) E(EMFILE) E(ENOTTY) E(ETXTBSY) E(EFBIG) E(ENOSPC) E(ESPIPE) E(EROFS) E(EMLINK) E(EPIPE)
    E(ERANGE) E(ENAMETOOLONG) E(ENOSYS) E(ENOTEMPTY) E(ELOOP) E(EOVERFLOW) E(ELIBBAD) E(EUSERS) E(EOPNOTSUPP)
    E(EADDRINUSE) E(ECONNRESET) E(ECONNREFUSED) E(ETIMEDOUT) E(ESTALE) E(EDQUOT) E(ECANCELED) E(EPROTO)
    E(ESHUTDOWN) E(EALREADY) E(EMSGSIZE)
  }
#undef E
  other[0] = 'E';
  *put_number(other + 1, (uint64_t)(err < 0 ? 0 : err)) = 0;
  return other;
}

static uint64_t micros(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t boot_ms(void) { return micros(CLOCK_BOOTTIME) / 1000; }
uint64_t cpu_micros(void) { return micros(CLOCK_PROCESS_CPUTIME_ID); }

ssize_t read_fd(int fd, char *buf, size_t cap) {
  size_t len = 0;
  for (;;) {
    if (len == cap - 1) {
      char more;
      ssize_t n = read(fd, &more, 1);
      if (n < 0 && errno == EINTR) continue;
      if (n > 0) {
        errno = EFBIG;
        return -1;
      }
      if (n < 0) return -1;
      break;
    }
    ssize_t n = read(fd, buf + len, cap - 1 - len);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    len += (size_t)n;
  }
  buf[len] = 0;
  return (ssize_t)len;
}

ssize_t read_file(const char *path, char *buf, size_t cap) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return -1;
  ssize_t n = read_fd(fd, buf, cap);
  int err = errno;
  close(fd);
  errno = err;
  return n;
}

static const char *number(const char *p, uint64_t *v) {
  *v = 0;
  while (*p == ' ') p++;
  if (*p < '0' || *p > '9') return NULL;
  for (; *p >= '0' && *p <= '9'; p++) *v = *v * 10 + (uint64_t)(*p - '0');
  return p;
}

bool parse_proc_stat(const char *text, struct proc_stat *st) {
  /* The name is in brackets and may hold anything, brackets and newlines included: the last one ends it. */
  const char *p = strrchr(text, ')');
  if (!p || p[1] != ' ' || p[2] == 0) return false;
  st->state = p[2];
  p += 3;
  for (int field = 4; field <= 22; field++) {
    while (*p == ' ') p++;
    bool negative = *p == '-';
    if (negative) p++;
    uint64_t v;
    p = number(p, &v);
    if (!p) return false;
    if (field == 4) st->ppid = (pid_t)v;
    if (field == 5) st->pgrp = (pid_t)v;
    if (field == 22) st->start_ticks = v;
  }
  return true;
}

bool proc_stat_of(pid_t pid, struct proc_stat *st) {
  char path[40] = "/proc/", text[1024];
  strcpy(put_number(path + 6, (uint64_t)pid), "/stat");
  return read_file(path, text, sizeof text) > 0 && parse_proc_stat(text, st);
}

char *put_number(char *at, uint64_t v) {
  char digits[20];
  int n = 0;
  do digits[n++] = (char)('0' + v % 10);
  while (v /= 10);
  while (n > 0) *at++ = digits[--n];
  *at = 0;
  return at;
}

void complain(const char *what, const char *detail) {
  struct iovec v[] = {
      {(void *)"holdfast-init: ", 15},
      {(void *)(uintptr_t)what, strlen(what)},
      {(void *)": ", detail ? 2 : 0},
      {(void *)(uintptr_t)detail, detail ? strlen(detail) : 0},
      {(void *)"\n", 1},
  };
  ssize_t n = writev(2, v, 5);
  (void)n;
}

bool parse_number(const char *s, uint64_t max, uint64_t *value) {
  if (!s || *s == 0 || strlen(s) > 18) return false;
  uint64_t v = 0;
  for (; *s; s++) {
    if (*s < '0' || *s > '9') return false;
    v = v * 10 + (uint64_t)(*s - '0');
  }
  if (v > max) return false;
  *value = v;
  return true;
}

int set_nonblocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}
