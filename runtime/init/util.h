/* Small things that both modes need: names of errors, clocks, files of /proc. */
#ifndef HF_UTIL_H
#define HF_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* "ENOENT"; for one without a name here "E" and the number. The answer lasts until the next call. */
const char *errno_name(int err);
uint64_t boot_ms(void);
uint64_t cpu_micros(void); /* used by this process */
/* Whole file into buf, ended with a NUL; bytes read, or -1 with errno (EFBIG: longer than cap - 1). */
ssize_t read_file(const char *path, char *buf, size_t cap);
ssize_t read_fd(int fd, char *buf, size_t cap);

struct proc_stat {
  char state;
  pid_t ppid, pgrp;
  uint64_t start_ticks;
};
bool parse_proc_stat(const char *text, struct proc_stat *st);
bool proc_stat_of(pid_t pid, struct proc_stat *st);

/* Appends a decimal number; the buffer needs 20 bytes and a NUL's room. Returns the end. */
char *put_number(char *at, uint64_t v);
/* Writes a line to stderr, as far as it goes at once. */
void complain(const char *what, const char *detail);
bool parse_number(const char *s, uint64_t max, uint64_t *value);
int set_nonblocking(int fd);

#ifndef HF_BUILD
#define HF_BUILD "0000000000000000"
#endif

int init_main(int argc, char **argv);
int probe_main(int argc, char **argv);
int gate_main(int argc, char **argv);

#endif
