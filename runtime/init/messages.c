/*
 * What init says and answers. Nothing is queued: what is due is read off the state of the processes, so that a slow
 * or absent agent costs no memory, and a new connection starts with all of it.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "init.h"
#include "protocol.h"
#include "pty.h"
#include "spawn.h"
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
  for (uint64_t i = from; i < self.outside_count; i++) put_u64(w, F_SIGNAL, self.outside[i % MAX_OUTSIDE]);
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

static bool say_outside_signal(struct writer *w) {
  if (self.outside_count - self.outside_told > MAX_OUTSIDE) self.outside_told = self.outside_count - MAX_OUTSIDE;
  size_t at = message_begin(w, T_OUTSIDE_SIGNAL, 0);
  put_u64(w, F_SIGNAL, self.outside[self.outside_told++ % MAX_OUTSIDE]);
  return message_end(w, at);
}

bool messages_next(struct writer *w) {
  if (tell_hello) return say_hello(w);
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

static void answer_failure(struct writer *w, uint32_t id, const char *stage, int error, const char *message) {
  size_t at = message_begin(w, T_START_FAILED, id);
  put_str(w, F_STAGE, stage);
  put_str(w, F_ERRNO, errno_name(error));
  if (message) put_str(w, F_MESSAGE, message);
  message_end(w, at);
}

static void on_start(struct writer *w, uint32_t id, uint8_t *payload, size_t len) {
  struct start s = {.id = id, .window = RING, .grace_ms = 10000};
  const char *refused = id == 0 ? "id 0" : start_parse(&s, payload, len);
  if (refused) {
    answer_failure(w, id, "exec", EINVAL, refused);
    return;
  }
  enum stage why;
  struct process *p = process_take(id, &why);
  if (!p) {
    answer_failure(w, id, stage_name(why), why == STAGE_DUPLICATE ? EEXIST : EUSERS, NULL);
    return;
  }
  if (self.ending) {
    answer_failure(w, id, "fork", ESHUTDOWN, NULL);
    return;
  }
  int error = spawn(p, &s, connection_fd(), &why);
  if (error != 0) {
    process_free(p, false); /* nothing has run: the id may be tried again */
    answer_failure(w, id, stage_name(why), error, NULL);
    return;
  }
  self.any_started = true;
}

static void on_stdin(struct writer *w, struct process *p, uint64_t offset, const struct field *data, bool end) {
  if (data && !input_add(&p->in, offset, data->value, data->len)) {
    size_t at = message_begin(w, T_ERROR, p->id);
    put_u64(w, F_TYPE, T_STDIN);
    put_str(w, F_MESSAGE, "more input than was granted, or a gap in it");
    message_end(w, at);
    return;
  }
  if (end) p->in.end = true;
  input_write(&p->in, p->tty);
}

static void on_release(bool has_code, uint64_t code) {
  self.released = true;
  if (has_code) self.exit_code = (int)(code & 255);
}

/* Of each kind the last field counts; what is unknown does not. */
struct wanted {
  uint64_t n[256];
  bool has[256];
  struct field data;
};

static bool gather(struct wanted *m, uint8_t *payload, size_t len) {
  struct fields it;
  struct field f;
  int more;
  memset(m, 0, sizeof *m);
  fields_of(&it, payload, len);
  while ((more = fields_next(&it, &f)) > 0) {
    if (f.tag == F_DATA)
      m->data = f;
    else if (!field_u64(&f, &m->n[f.tag]))
      continue;
    m->has[f.tag] = true;
  }
  return more == 0;
}

static void on_process(struct writer *w, uint8_t type, struct process *p, const struct wanted *m) {
  int stream = m->n[F_STREAM] == 2 ? STDERR : STDOUT;
  switch (type) {
    case T_SIGNAL:
      if (m->n[F_SIGNAL] < 1 || m->n[F_SIGNAL] > 64) return;
      process_signal(p, (int)m->n[F_SIGNAL], m->n[F_SCOPE] != 0, BY_AGENT);
      return;
    case T_CREDIT: output_credit(&p->out[stream], m->n[F_ACKED], m->n[F_LIMIT]); return;
    case T_STDIN: on_stdin(w, p, m->n[F_OFFSET], m->has[F_DATA] ? &m->data : NULL, m->n[F_END] != 0); return;
    case T_RESIZE:
      if (p->tty && p->in.fd >= 0)
        pty_resize(p->in.fd, (unsigned)(m->n[F_ROWS] & 0xffff), (unsigned)(m->n[F_COLS] & 0xffff));
      return;
    default: /* T_FORGET */
      if (p->state != P_EXITED || p->id == ID_MAIN) return;
      p->forgotten = true;
      if (p->reaped) process_free(p, true);
  }
}

void messages_handle(struct writer *w, uint8_t type, uint32_t channel, uint8_t *payload, size_t len) {
  static struct wanted m;
  const char *wrong = "unknown type";
  switch (type) {
    case T_START: on_start(w, channel, payload, len); return;
    case T_HELLO:
    case T_ERROR: return;
    case T_PING:
    case T_RELEASE:
    case T_SIGNAL:
    case T_CREDIT:
    case T_STDIN:
    case T_RESIZE:
    case T_FORGET: {
      wrong = "malformed fields";
      if (!gather(&m, payload, len)) break;
      struct process *p = process_by_id(channel);
      if (type == T_RELEASE)
        on_release(m.has[F_EXIT_CODE], m.n[F_EXIT_CODE]);
      else if (type == T_PING) {
        size_t at = message_begin(w, T_PONG, channel);
        put_u64(w, F_REQUEST, m.n[F_REQUEST]);
        message_end(w, at);
      } else if (p)
        on_process(w, type, p, &m); /* one that is not there (any more) needs nothing */
      return;
    }
    default: break;
  }
  size_t at = message_begin(w, T_ERROR, channel);
  put_u64(w, F_TYPE, type);
  put_str(w, F_MESSAGE, wrong);
  message_end(w, at);
}
