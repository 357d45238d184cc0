/*
 * Frames and fields of the protocol (docs/protocol.md). Nothing here allocates: buffers are the caller's.
 */
#ifndef HF_FRAME_H
#define HF_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER 12u
#define FRAME_PAYLOAD_MAX 65536u
#define MESSAGE_MAX (3u * 1024 * 1024)
#define FRAME_MORE 0x01u

enum frame_status { FRAME_AGAIN, FRAME_MESSAGE, FRAME_BAD };

struct frame_parser {
  uint8_t *buf; /* cap + 1 bytes: the last field can always be ended with a NUL in place */
  size_t cap;
  size_t len; /* of the message so far */
  uint8_t type;
  uint32_t channel;
  const char *error;
  /* internal */
  uint8_t header[FRAME_HEADER];
  unsigned have;
  uint32_t left;
  bool more, continued, complete;
};

void frame_init(struct frame_parser *p, uint8_t *buf, size_t cap);
/* Takes bytes until a message is whole (then the next call begins a new one), all are used, or they are no frame. */
enum frame_status frame_feed(struct frame_parser *p, const uint8_t *data, size_t n, size_t *used);

struct fields {
  uint8_t *p, *end;
};
struct field {
  uint8_t tag;
  uint8_t *value;
  uint32_t len;
};
void fields_of(struct fields *it, uint8_t *payload, size_t len);
/* 1: a field, 0: the end, -1: malformed. */
int fields_next(struct fields *it, struct field *f);
bool field_u64(const struct field *f, uint64_t *value);

/* Builds messages in a buffer. What does not fit sets `overflow` and is left out. */
struct writer {
  uint8_t *buf;
  size_t len, cap;
  bool overflow;
};
size_t message_begin(struct writer *w, uint8_t type, uint32_t channel);
/* Ends a message of at most FRAME_PAYLOAD_MAX; a longer or overflown one is taken back and false returned. */
bool message_end(struct writer *w, size_t at);
void put_bytes(struct writer *w, uint8_t tag, const void *data, size_t len);
void put_str(struct writer *w, uint8_t tag, const char *s);
void put_u64(struct writer *w, uint8_t tag, uint64_t value);
size_t nested_begin(struct writer *w, uint8_t tag);
void nested_end(struct writer *w, size_t at);
void frame_header(uint8_t *at, uint8_t type, uint8_t flags, uint32_t channel, uint32_t len);

#endif
