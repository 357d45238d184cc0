/* What init is told, and what it answers at once. The caller has left room for an answer. */
#include <errno.h>
#include <string.h>

#include "init.h"
#include "protocol.h"
#include "pty.h"
#include "spawn.h"
#include "util.h"

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
  if (!p && why == STAGE_FORK) {
    reap_for_room();
    p = process_take(id, &why);
  }
  if (!p) {
    answer_failure(w, id, stage_name(why), why == STAGE_DUPLICATE ? EEXIST : EUSERS, NULL);
    return;
  }
  if (self.ending || fence_due()) {
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

static void on_time_limit(struct writer *w, uint32_t id, struct process *p, const struct wanted *m) {
  int error = p ? process_limit(p, m->n[F_TIMEOUT_MS]) : ESRCH;
  if (error == 0 && m->has[F_GRACE_MS]) p->grace_ms = m->n[F_GRACE_MS];
  size_t at = message_begin(w, T_TIME_LIMIT_SET, id);
  if (error != 0) put_str(w, F_ERRNO, errno_name(error));
  message_end(w, at);
}

static void on_heartbeat(struct writer *w, const struct wanted *m) {
  int error = fence_set(m->has[F_BOOT_MS], m->n[F_BOOT_MS], m->n[F_TIMEOUT_MS]);
  size_t at = message_begin(w, T_HEARTBEAT_SET, 0);
  put_u64(w, F_BOOT_MS, boot_ms());
  if (error != 0) put_str(w, F_ERRNO, errno_name(error));
  message_end(w, at);
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
    case T_FORGET:
    case T_TIME_LIMIT:
    case T_HEARTBEAT: {
      wrong = "malformed fields";
      if (!gather(&m, payload, len)) break;
      struct process *p = process_by_id(channel);
      if (type == T_RELEASE)
        on_release(m.has[F_EXIT_CODE], m.n[F_EXIT_CODE]);
      else if (type == T_PING) {
        size_t at = message_begin(w, T_PONG, channel);
        put_u64(w, F_REQUEST, m.n[F_REQUEST]);
        message_end(w, at);
      } else if (type == T_TIME_LIMIT)
        on_time_limit(w, channel, p, &m);
      else if (type == T_HEARTBEAT)
        on_heartbeat(w, &m);
      else if (p)
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
