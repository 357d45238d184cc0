/* What the parts of probe mode share. */
#ifndef HF_PROBE_H
#define HF_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "frame.h"

/* facts.c: processes */
struct facts {
  pid_t pid;
  uint64_t start_ticks;
  uint32_t uid;
  uint32_t ns_pids[32];
  int ns_count;
  char cgroup[8192];
};
/* 0, or an errno (ESRCH: no such process). */
int facts_of(pid_t pid, struct facts *f);
void put_facts(struct writer *w, const struct facts *f);
int parse_ns_pids(const char *status, uint32_t *pids, int max);

/* kernel.c: files and cgroups */
const char *cgroup_version(void);
/* Opens a file below /proc or /sys/fs/cgroup, no symlinks but one right below the latter. -1 with errno. */
int open_readable(const char *path, size_t len);
/* 1 gone, 0 not empty, -1 errno. */
int remove_cgroup(const char *path, size_t len);

/* requests.c */
void answer_request(struct writer *w, uint8_t type, uint8_t *payload, size_t len);

/* sandboxes.c: their sockets */
struct sandbox {
  char id[65];
  int listener;
  uint64_t quiet_until; /* after a stranger has knocked, for a moment */
  struct sandbox *next;
};
extern struct sandbox *sandboxes;
int sandboxes_open(const char *dir);
int sandbox_listen(const char *id);
int sandbox_unlisten(const char *id);
int sandboxes_list(struct writer *w);
/* A connection of this sandbox's PID 1; -1: nobody (that may come in). */
int sandbox_accept(struct sandbox *s, struct facts *peer, uint64_t now);

/* channels.c: the streams of the inits */
struct channel {
  uint32_t number;
  int fd;
  bool closing; /* the agent has said goodbye: what is buffered still goes out */
  char sandbox[65];
  uint64_t read_total, read_limit;       /* init -> agent */
  uint64_t taken_total, written_total;   /* agent -> init */
  uint64_t granted;
  uint8_t *buf; /* CHANNEL_WINDOW bytes while something waits in it */
  struct channel *next;
};
#define CHANNEL_WINDOW 65536u
extern struct channel *channels;
void channel_open(struct writer *w, int fd, const char *sandbox, const struct facts *peer);
void channel_message(struct writer *w, uint8_t type, uint32_t number, uint8_t *payload, size_t len);
bool channel_wants_read(const struct channel *c);
bool channel_wants_write(const struct channel *c);
void channel_read(struct writer *w, struct channel *c);
void channel_write(struct writer *w, struct channel *c);
/* Tells the agent (unless it was its own wish) and closes the socket; the entry goes at the next sweep. */
void channel_close(struct writer *w, struct channel *c, const char *reason);
void channel_close_sandbox(struct writer *w, const char *sandbox, const char *reason);
void channels_sweep(void);

#endif
