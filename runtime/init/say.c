/*
 * What init says. Nothing is queued: what is due is read off the state of the processes, so that a slow
 * or absent agent costs no memory, and a new connection starts with all of it.
 */
#include <unistd.h>

#include "init.h"
#include "protocol.h"
#include "util.h"

#define CHUNK 16384u

static uint64_t connections;
static bool tell_hello;
static int turn; /* where the next look for output begins */

void messages_connected(void) {
  connections++;
  tell_hello = true;
  for (int i = 0; i < MAX_PROCESSES; i++)
    for (int s = 0; s < 2; s++) output_reconnect(&processes[i].out[s]);
}

static void put_end(struct writer *w, const struct process *p) {
  if (p->failed) {
    put_str(w, F_STAGE, stage_name(p->stage));
    put_str(w, F_ERRNO, errno_name(p->error));
  }
  process_put_exit(w, p);
}

static bool say_hello(struct writer *w) {
  for (int i = 0; i < MAX_PROCESSES; i++)
    if (processes[i].state == P_STARTING) return false; /* known in a moment: said then */
  size_t at = message_begin(w, T_HELLO, 0);
  put_u64(w, F_PROTOCOL, HF_PROTOCOL);
  put_str(w, F_BUILD, HF_BUILD);
  put_u64(w, F_UID, geteuid());
  put_u64(w, F_GID, getegid());
  put_u64(w, F_CONNECTION, connections);
  put_u64(w, F_BOOT_MS, boot_ms());
  if (self.fenced_at != 0) put_u64(w, F_FENCED_AT, self.fenced_at);
  self.tell_fenced = false;
  for (int i = 0; i < MAX_PROCESSES; i++) {
    struct process *p = &processes[i];
    if (p->state == P_FREE || p->forgotten) continue;
    size_t nested = nested_begin(w, F_PROCESS);
    process_put_record(w, p);
    if (p->state == P_EXITED) put_end(w, p);
    nested_end(w, nested);
    p->tell_start = p->tell_exit = false;
    if (p->in.wanted) p->in.credit_due = true;
  }
  uint64_t from = self.outside_count > MAX_OUTSIDE ? self.outside_count - MAX_OUTSIDE : 0;
  for (uint64_t i = from; i < self.outside_count; i++) {
    put_u64(w, F_SIGNAL, self.outside[i % MAX_OUTSIDE]);
    put_u64(w, F_SIGNAL_AT, self.outside_at[i % MAX_OUTSIDE]);
  }
  self.outside_told = self.outside_count;
  tell_hello = false;
  message_end(w, at);
  return true;
}

static bool say_start(struct writer *w, struct process *p) {
  size_t at = message_begin(w, p->failed ? T_START_FAILED : T_STARTED, p->id);
  put_u64(w, F_PID, (uint64_t)p->pid);
  put_u64(w, F_START_TICKS, p->start_ticks);
  if (p->failed) put_end(w, p);
  p->tell_start = false;
  return message_end(w, at);
}

static bool say_exit(struct writer *w, struct process *p) {
  size_t at = message_begin(w, T_EXITED, p->id);
  process_put_exit(w, p);
  p->tell_exit = false;
  return message_end(w, at);
}

static bool say_stdin_credit(struct writer *w, struct process *p) {
  size_t at = message_begin(w, T_STDIN_CREDIT, p->id);
  p->in.granted = p->in.written + RING;
  p->in.credit_due = false;
  put_u64(w, F_STDIN_RECEIVED, p->in.received);
  put_u64(w, F_LIMIT, p->in.granted);
  if (p->in.fd < 0) put_u64(w, F_END, 1);
  return message_end(w, at);
}

static bool say_output(struct writer *w, struct process *p, int stream) {
  struct output *o = &p->out[stream];
  const uint8_t *data;
  uint32_t n = output_ready(o, &data);
  if (n > 0) {
    if (n > CHUNK) n = CHUNK;
    size_t at = message_begin(w, T_OUTPUT, p->id);
    put_u64(w, F_STREAM, (uint64_t)stream + 1);
    put_u64(w, F_OFFSET, o->sent);
    put_bytes(w, F_DATA, data, n);
    o->sent += n;
    return message_end(w, at);
  }
  if (o->end_sent || !output_ended(o)) return false;
  size_t at = message_begin(w, T_STREAM_END, p->id);
  put_u64(w, F_STREAM, (uint64_t)stream + 1);
  put_u64(w, F_TOTAL, o->total);
  o->end_sent = true;
  return message_end(w, at);
}

static bool say_fenced(struct writer *w) {
  size_t at = message_begin(w, T_FENCED, 0);
  put_u64(w, F_FENCED_AT, self.fenced_at);
  self.tell_fenced = false;
  return message_end(w, at);
}

static bool say_outside_signal(struct writer *w) {
  if (self.outside_count - self.outside_told > MAX_OUTSIDE) self.outside_told = self.outside_count - MAX_OUTSIDE;
  size_t at = message_begin(w, T_OUTSIDE_SIGNAL, 0);
  put_u64(w, F_SIGNAL, self.outside[self.outside_told % MAX_OUTSIDE]);
  put_u64(w, F_SIGNAL_AT, self.outside_at[self.outside_told++ % MAX_OUTSIDE]);
  return message_end(w, at);
}

bool messages_next(struct writer *w) {
  if (tell_hello) return say_hello(w);
  if (self.tell_fenced) return say_fenced(w);
  if (self.outside_told < self.outside_count) return say_outside_signal(w);
  for (int i = 0; i < MAX_PROCESSES; i++) {
    struct process *p = &processes[i];
    if (p->state == P_FREE) continue;
    if (p->tell_start) return say_start(w, p);
    if (p->state == P_STARTING) continue;
    if (p->tell_exit) return say_exit(w, p);
    if (p->in.credit_due) return say_stdin_credit(w, p);
  }
  for (int i = 0; i < 2 * MAX_PROCESSES; i++) {
    int at = (turn + i) % (2 * MAX_PROCESSES);
    struct process *p = &processes[at / 2];
    if (p->state == P_FREE || p->state == P_STARTING || !say_output(w, p, at % 2)) continue;
    turn = at + 1;
    return true;
  }
  return false;
}
