/*
 * The byte streams of the inits, side by side on the agent's one stream. Each has a window of its own in each
 * direction, so that one that is not read stops itself and nobody else.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe.h"
#include "protocol.h"
#include "util.h"

#define CHUNK 32768u

struct channel *channels;
static uint32_t last_number;

static void say(struct writer *w, uint8_t type, uint32_t number, uint8_t tag, uint64_t value) {
  size_t at = message_begin(w, type, number);
  put_u64(w, tag, value);
  message_end(w, at);
}

void channel_close(struct writer *w, struct channel *c, const char *reason) {
  if (c->fd < 0) return;
  close(c->fd);
  c->fd = -1;
  if (c->closing) return;
  c->closing = true;
  size_t at = message_begin(w, T_CLOSE, c->number);
  put_str(w, F_REASON, reason);
  message_end(w, at);
}

void channel_close_sandbox(struct writer *w, const char *sandbox, const char *reason) {
  for (struct channel *c = channels; c; c = c->next)
    if (strcmp(c->sandbox, sandbox) == 0) channel_close(w, c, reason);
}

void channel_open(struct writer *w, int fd, const char *sandbox, const struct facts *peer) {
  channel_close_sandbox(w, sandbox, "replaced");
  struct channel *c = calloc(1, sizeof *c);
  if (!c) {
    close(fd);
    return;
  }
  c->number = ++last_number;
  c->fd = fd;
  strcpy(c->sandbox, sandbox);
  c->granted = CHANNEL_WINDOW;
  c->next = channels;
  channels = c;
  size_t at = message_begin(w, T_OPEN, c->number);
  put_str(w, F_SANDBOX, sandbox);
  put_facts(w, peer);
  put_u64(w, F_LIMIT, c->granted);
  message_end(w, at);
}

bool channel_wants_read(const struct channel *c) { return c->fd >= 0 && !c->closing && c->read_total < c->read_limit; }
bool channel_wants_write(const struct channel *c) { return c->fd >= 0 && c->taken_total > c->written_total; }

void channel_read(struct writer *w, struct channel *c) {
  static uint8_t buf[CHUNK];
  uint64_t most = c->read_limit - c->read_total;
  ssize_t n = recv(c->fd, buf, most < CHUNK ? (size_t)most : CHUNK, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    channel_close(w, c, n == 0 ? "ended" : errno_name(errno));
    return;
  }
  c->read_total += (uint64_t)n;
  size_t at = message_begin(w, T_DATA, c->number);
  put_bytes(w, F_DATA, buf, (size_t)n);
  message_end(w, at);
}

void channel_write(struct writer *w, struct channel *c) {
  while (channel_wants_write(c)) {
    uint32_t from = (uint32_t)(c->written_total % CHANNEL_WINDOW), n = (uint32_t)(c->taken_total - c->written_total);
    if (from + n > CHANNEL_WINDOW) n = CHANNEL_WINDOW - from;
    ssize_t done = send(c->fd, c->buf + from, n, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno == EAGAIN) break;
    if (done < 0) {
      channel_close(w, c, errno_name(errno));
      return;
    }
    c->written_total += (uint64_t)done;
  }
  if (c->fd < 0 || channel_wants_write(c)) return;
  free(c->buf);
  c->buf = NULL;
  if (c->closing)
    channel_close(w, c, "");
  else if (c->written_total + CHANNEL_WINDOW - c->granted >= CHANNEL_WINDOW / 2) {
    c->granted = c->written_total + CHANNEL_WINDOW;
    say(w, T_WINDOW, c->number, F_LIMIT, c->granted);
  }
}

static void take(struct writer *w, struct channel *c, const uint8_t *data, uint32_t len) {
  if (c->closing || len == 0) return;
  if (c->taken_total + len > c->granted) {
    channel_close(w, c, "more than the window");
    return;
  }
  if (!c->buf && !(c->buf = malloc(CHANNEL_WINDOW))) {
    channel_close(w, c, "ENOMEM");
    return;
  }
  uint32_t to = (uint32_t)(c->taken_total % CHANNEL_WINDOW), first = CHANNEL_WINDOW - to < len ? CHANNEL_WINDOW - to : len;
  memcpy(c->buf + to, data, first);
  memcpy(c->buf, data + first, len - first);
  c->taken_total += len;
}

void channel_message(struct writer *w, uint8_t type, uint32_t number, uint8_t *payload, size_t len) {
  struct channel *c = channels;
  while (c && (c->number != number || c->fd < 0)) c = c->next;
  if (!c) return; /* closed while this was on its way */
  struct fields it;
  struct field f;
  uint64_t v;
  fields_of(&it, payload, len);
  while (fields_next(&it, &f) > 0) {
    if (type == T_DATA && f.tag == F_DATA) take(w, c, f.value, f.len);
    if (type == T_WINDOW && f.tag == F_LIMIT && field_u64(&f, &v) && v > c->read_limit) c->read_limit = v;
  }
  if (type == T_CLOSE) c->closing = true;
  if (c->fd >= 0 && (type == T_DATA || type == T_CLOSE)) channel_write(w, c);
}

void channels_sweep(void) {
  for (struct channel **at = &channels; *at;) {
    struct channel *c = *at;
    if (c->fd >= 0) {
      at = &c->next;
      continue;
    }
    *at = c->next;
    free(c->buf);
    free(c);
  }
}
