/* What the parts of init mode share. */
#ifndef HF_INIT_H
#define HF_INIT_H

#include <stdbool.h>
#include <stdint.h>

#include "process.h"

#define MAX_OUTSIDE 64
#define EXIT_FENCED 94 /* of a sandbox that ended itself and whose agent did not come for its word */

struct init {
  const char *socket_path;
  uint64_t hold_ms;
  /* Signals from outside, the last MAX_OUTSIDE of them, and when they came */
  uint8_t outside[MAX_OUTSIDE];
  uint64_t outside_at[MAX_OUTSIDE];
  uint64_t outside_count, outside_told;
  bool any_started;
  /* The sandbox ends itself at fence_at (CLOCK_BOOTTIME ms; 0: no fence) unless a heartbeat moves it; then fenced_at */
  uint64_t fence_at, fenced_at;
  bool tell_fenced;
  /* Set when the sandbox is to end: at hold_until, or now when released */
  bool ending, released;
  int exit_code;
  uint64_t hold_until;
};
extern struct init self;

/* init.c */
void main_ended(int code);

/* fence.c */
/* Until when it may run on. An errno: what is said is not to be used, or comes too late. */
int fence_set(bool has_from, uint64_t from, uint64_t timeout_ms);
bool fence_due(void);
/* Ends everything in the sandbox but this process, at once and for good, when the time has come. */
void fence_enforce(void);

/* reap.c */
void reap(void);
/* Lets go at once of leaders that need not be kept, to have their places in the table. */
void reap_for_room(void);
/* When it has to be called again though no child ended; 0: need not. */
uint64_t reap_due(void);
/* Looks whether exec worked; true when that is known. */
bool resolve_start(struct process *p);

/* judge.c */
enum ended_by judge_end(const struct process *p);
/* The one passed on from outside that its end can be due to, of whatever kind it died of; 0: none. */
int outside_signal_of_end(const struct process *p);
bool asks_to_end(int signal);

/* connection.c */
#define CONNECTION_ROOM 20480 /* the longest message (an output chunk, or HELLO with 64 processes) and some */
int connection_fd(void);
bool connection_wants_read(void);
bool connection_wants_write(void);
uint64_t connection_dial_at(void);
void connection_dial(uint64_t now);
void connection_read(void);
void connection_flush(void);

/* say.c and hear.c: what is said, and what is done with what is heard */
void messages_connected(void);
/* Writes the next message that is due; false: none is. */
bool messages_next(struct writer *w);
void messages_handle(struct writer *w, uint8_t type, uint32_t channel, uint8_t *payload, size_t len);

#endif
