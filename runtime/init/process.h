/* A process that init was asked to start, and what is known of it until it is forgotten. */
#ifndef HF_PROCESS_H
#define HF_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "frame.h"

#define MAX_PROCESSES 64
#define RING 65536u
#define MAX_SIGNALS 65
#define ID_SETUP 1u
#define ID_MAIN 2u

enum stream_name { STDOUT = 0, STDERR = 1 };
enum state { P_FREE = 0, P_STARTING, P_RUNNING, P_EXITED };
enum stage { STAGE_NONE = 0, STAGE_CHDIR, STAGE_EXEC, STAGE_FORK, STAGE_PTY, STAGE_DUPLICATE };
enum ended_by { BY_ITSELF = 0, BY_TIMEOUT, BY_AGENT, BY_OUTSIDE, BY_FENCE };

/* Output on its way. Bytes [acked, total) are in the ring; [acked, sent) went out on this connection. */
struct output {
  int fd; /* -1: no writer is left, all was read */
  uint64_t acked, sent, total, limit;
  uint64_t base; /* the offset that is at ring[0]; moves only while the ring is empty */
  uint8_t *ring;
  bool open;     /* this connection's agent has said from where to send */
  bool end_sent; /* on this connection */
};

struct input {
  int fd; /* -1: none, or ended */
  uint64_t received, written, granted;
  uint64_t base;
  uint8_t *ring;
  bool wanted, end; /* end: close when all is written */
  bool credit_due;
};

struct process {
  enum state state;
  uint32_t id;
  pid_t pid;
  uint64_t start_ticks;
  uint64_t started_at, ended_at;
  bool tty, reaped, failed;
  bool forgotten; /* freed as soon as its group is empty */
  bool fenced;    /* it ran when the fence fell */
  enum stage stage; /* of a failed start */
  int error;
  int status_fd; /* tells whether exec worked */
  struct output out[2];
  struct input in;
  /* The end */
  int exit_code, term_signal; /* -1: not this way */
  bool core_dumped;
  struct rusage usage;
  uint64_t signals[BY_OUTSIDE];      /* sent by whom: bit s is signal s */
  uint64_t outside_at[MAX_SIGNALS]; /* when the last of each came from outside; 0: never */
  enum ended_by ended_by;
  int outside_signal; /* from outside, and to which the end can be due; 0: none */
  /* Time limit, in CLOCK_BOOTTIME ms; 0: none */
  uint64_t term_at, kill_at, grace_ms;
  /* What this connection's agent has not been told yet */
  bool tell_start, tell_exit;
};

extern struct process processes[MAX_PROCESSES];

struct process *process_by_id(uint32_t id);
struct process *process_by_pid(pid_t pid);
/* A slot for a new process; NULL with *why DUPLICATE (ever started before) or FORK (the table is full). */
struct process *process_take(uint32_t id, enum stage *why);
/* Frees the slot; `used_up`: the id may not be started again. */
void process_free(struct process *p, bool used_up);
bool process_group_held(pid_t pgrp);
void process_close_fds(struct process *p);
/* `by`: whose wish it is. Nothing is sent once the pid could be another's. */
void process_signal(struct process *p, int signal, bool group, enum ended_by by);
/* Of a process that runs, from its start on; 0: none. An errno when it has ended, or is being ended by its limit. */
int process_limit(struct process *p, uint64_t timeout_ms);
void process_put_record(struct writer *w, const struct process *p);
void process_put_exit(struct writer *w, const struct process *p);
const char *stage_name(enum stage stage);

/* Output and input rings (stream.c) */
bool output_wants_read(const struct output *o);
void output_read(struct output *o);
/* The next bytes that may be sent, as one run; 0: none. */
uint32_t output_ready(const struct output *o, const uint8_t **data);
bool output_ended(const struct output *o);
void output_credit(struct output *o, uint64_t acked, uint64_t limit);
void output_reconnect(struct output *o);
/* false: more than was granted. */
bool input_add(struct input *in, uint64_t offset, const uint8_t *data, uint32_t len);
void input_write(struct input *in, bool tty);

#endif
