/* The bounded buffers between the pipes of a process and the connection. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "process.h"

static uint32_t at(uint64_t base, uint64_t offset) { return (uint32_t)((offset - base) % RING); }

/* Of a stream that has ended and is safe, the memory. */
static void give_back(struct output *o) {
  if (o->total > 0 && o->total == o->acked && o->fd < 0) madvise(o->ring, RING, MADV_DONTNEED);
}

bool output_wants_read(const struct output *o) { return o->fd >= 0 && o->total - o->acked < RING; }

void output_read(struct output *o) {
  /* Small output stays in the ring's first page, so that most of it is never touched. */
  if (o->total == o->acked) o->base = o->total;
  uint32_t space = RING - (uint32_t)(o->total - o->acked), from = at(o->base, o->total);
  struct iovec v[2] = {{o->ring + from, space}, {o->ring, 0}};
  if (from + space > RING) {
    v[0].iov_len = RING - from;
    v[1].iov_len = space - (RING - from);
  }
  ssize_t n = readv(o->fd, v, v[1].iov_len > 0 ? 2 : 1);
  if (n > 0) {
    o->total += (uint64_t)n;
    return;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  /* The end; a terminal says EIO when nobody has it open any more. */
  close(o->fd);
  o->fd = -1;
  give_back(o);
}

uint32_t output_ready(const struct output *o, const uint8_t **data) {
  if (!o->open) return 0;
  uint64_t upto = o->total < o->limit ? o->total : o->limit;
  if (upto <= o->sent) return 0;
  uint32_t from = at(o->base, o->sent), n = (uint32_t)(upto - o->sent);
  if (from + n > RING) n = RING - from;
  *data = o->ring + from;
  return n;
}

bool output_ended(const struct output *o) { return o->open && o->fd < 0 && o->sent == o->total; }

void output_credit(struct output *o, uint64_t acked, uint64_t limit) {
  /* An acknowledgement of what was never sent is none; an older one than known says nothing new. */
  if (acked > o->total) acked = o->total;
  if (acked > o->acked) {
    o->acked = acked;
    give_back(o);
  }
  if (!o->open) {
    o->sent = o->acked;
    o->open = true;
  }
  if (o->sent < o->acked) o->sent = o->acked;
  if (limit > o->limit) o->limit = limit;
}

void output_reconnect(struct output *o) {
  o->open = false;
  o->end_sent = false;
  o->limit = 0;
}

bool input_add(struct input *in, uint64_t offset, const uint8_t *data, uint32_t len) {
  if (offset > in->received) return false;
  uint64_t known = in->received - offset;
  if (known >= len) return true;
  data += known;
  len -= (uint32_t)known;
  if (in->fd < 0 || in->end) {
    /* Nobody will read it: taken and dropped, so that the sender does not wait for ever. */
    in->received += len;
    in->written = in->received;
    in->credit_due = true;
    return true;
  }
  if (len > RING - (in->received - in->written)) return false;
  if (in->received == in->written) in->base = in->received;
  uint32_t to = at(in->base, in->received), first = RING - to < len ? RING - to : len;
  memcpy(in->ring + to, data, first);
  memcpy(in->ring, data + first, len - first);
  in->received += len;
  return true;
}

void input_write(struct input *in, bool tty) {
  while (in->fd >= 0 && in->written < in->received) {
    uint32_t from = at(in->base, in->written), n = (uint32_t)(in->received - in->written);
    if (from + n > RING) n = RING - from;
    ssize_t done = write(in->fd, in->ring + from, n);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno == EAGAIN) break;
    if (done < 0) {
      in->written = in->received;
      in->end = true;
      break;
    }
    in->written += (uint64_t)done;
  }
  if (in->written + RING - in->granted >= RING / 2) in->credit_due = true;
  /* A terminal has no end of input: whoever wants one types ^D. */
  if (in->fd >= 0 && in->end && in->written == in->received && !tty) {
    close(in->fd);
    in->fd = -1;
    madvise(in->ring, RING, MADV_DONTNEED);
  }
}
