#include "frame.h"

#include <string.h>

static uint32_t get_u32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void set_u32(uint8_t *p, uint32_t v) {
  p[0] = (uint8_t)(v >> 24);
  p[1] = (uint8_t)(v >> 16);
  p[2] = (uint8_t)(v >> 8);
  p[3] = (uint8_t)v;
}

void frame_init(struct frame_parser *p, uint8_t *buf, size_t cap) {
  memset(p, 0, sizeof *p);
  p->buf = buf;
  p->cap = cap;
}

static bool bad(struct frame_parser *p, const char *why) {
  p->error = why;
  return false;
}

static bool take_header(struct frame_parser *p) {
  const uint8_t *h = p->header;
  if (h[0] != 'H') return bad(p, "not a frame");
  if ((h[2] & ~FRAME_MORE) != 0 || h[3] != 0) return bad(p, "unknown flags");
  uint32_t channel = get_u32(h + 4), len = get_u32(h + 8);
  if (len > FRAME_PAYLOAD_MAX) return bad(p, "frame too long");
  if (p->continued && (h[1] != p->type || channel != p->channel)) return bad(p, "fragments of two messages mixed");
  if (len > p->cap - p->len) return bad(p, "message too long");
  p->type = h[1];
  p->channel = channel;
  p->more = (h[2] & FRAME_MORE) != 0;
  if (p->more && len == 0) return bad(p, "empty fragment");
  p->left = len;
  return true;
}

enum frame_status frame_feed(struct frame_parser *p, const uint8_t *data, size_t n, size_t *used) {
  *used = 0;
  if (p->error) return FRAME_BAD;
  if (p->complete) {
    p->complete = false;
    p->len = 0;
  }
  for (;;) {
    size_t avail = n - *used;
    if (p->have < FRAME_HEADER) {
      if (avail == 0) return FRAME_AGAIN;
      size_t take = FRAME_HEADER - p->have;
      if (take > avail) take = avail;
      memcpy(p->header + p->have, data + *used, take);
      p->have += (unsigned)take;
      *used += take;
      if (p->have < FRAME_HEADER) return FRAME_AGAIN;
      if (!take_header(p)) return FRAME_BAD;
      continue;
    }
    size_t take = p->left < avail ? p->left : avail;
    if (take > 0) memcpy(p->buf + p->len, data + *used, take);
    p->len += take;
    p->left -= (uint32_t)take;
    *used += take;
    if (p->left > 0) return FRAME_AGAIN;
    p->have = 0;
    p->continued = p->more;
    if (!p->more) {
      p->complete = true;
      return FRAME_MESSAGE;
    }
  }
}

void fields_of(struct fields *it, uint8_t *payload, size_t len) {
  it->p = payload;
  it->end = payload + len;
}

int fields_next(struct fields *it, struct field *f) {
  size_t left = (size_t)(it->end - it->p);
  if (left == 0) return 0;
  if (left < 5) return -1;
  uint32_t len = get_u32(it->p + 1);
  if (len > left - 5) return -1;
  f->tag = it->p[0];
  f->value = it->p + 5;
  f->len = len;
  it->p += 5 + (size_t)len;
  return 1;
}

bool field_u64(const struct field *f, uint64_t *value) {
  if (f->len != 8) return false;
  *value = (uint64_t)get_u32(f->value) << 32 | get_u32(f->value + 4);
  return true;
}

static uint8_t *reserve(struct writer *w, size_t n) {
  if (w->overflow || n > w->cap - w->len) {
    w->overflow = true;
    return NULL;
  }
  uint8_t *at = w->buf + w->len;
  w->len += n;
  return at;
}

void frame_header(uint8_t *at, uint8_t type, uint8_t flags, uint32_t channel, uint32_t len) {
  at[0] = 'H';
  at[1] = type;
  at[2] = flags;
  at[3] = 0;
  set_u32(at + 4, channel);
  set_u32(at + 8, len);
}

size_t message_begin(struct writer *w, uint8_t type, uint32_t channel) {
  size_t at = w->len;
  uint8_t *h = reserve(w, FRAME_HEADER);
  if (h) frame_header(h, type, 0, channel, 0);
  return at;
}

bool message_end(struct writer *w, size_t at) {
  if (w->overflow || w->len - at - FRAME_HEADER > FRAME_PAYLOAD_MAX) {
    w->len = at;
    w->overflow = false;
    return false;
  }
  set_u32(w->buf + at + 8, (uint32_t)(w->len - at - FRAME_HEADER));
  return true;
}

void put_bytes(struct writer *w, uint8_t tag, const void *data, size_t len) {
  uint8_t *at = reserve(w, 5 + len);
  if (!at) return;
  at[0] = tag;
  set_u32(at + 1, (uint32_t)len);
  if (len > 0) memcpy(at + 5, data, len);
}

void put_str(struct writer *w, uint8_t tag, const char *s) { put_bytes(w, tag, s, strlen(s)); }

void put_u64(struct writer *w, uint8_t tag, uint64_t value) {
  uint8_t b[8];
  set_u32(b, (uint32_t)(value >> 32));
  set_u32(b + 4, (uint32_t)value);
  put_bytes(w, tag, b, sizeof b);
}

size_t nested_begin(struct writer *w, uint8_t tag) {
  size_t at = w->len;
  put_bytes(w, tag, NULL, 0);
  return at;
}

void nested_end(struct writer *w, size_t at) {
  if (!w->overflow) set_u32(w->buf + at + 1, (uint32_t)(w->len - at - 5));
}
