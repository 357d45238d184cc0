/* The one connection to the probe: dialled by us, again and again, as long as the sandbox lives. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "init.h"
#include "util.h"

#define BACKOFF_FIRST 50
#define BACKOFF_LAST 1000
#define OUT_CAP 36864

static int fd = -1;
static uint64_t dial_at = 1, backoff = BACKOFF_FIRST;
static uint8_t out_buf[OUT_CAP], in_buf[16384];
static _Alignas(4096) uint8_t message[MESSAGE_MAX + 4096];
static size_t in_len, in_at, out_at;
static struct writer out = {out_buf, 0, OUT_CAP, false};
static struct frame_parser parser;

int connection_fd(void) { return fd; }
/* While something read is left, more would only wake us for nothing. */
bool connection_wants_read(void) { return fd >= 0 && in_at >= in_len; }
bool connection_wants_write(void) { return fd >= 0 && out.len > out_at; }
uint64_t connection_dial_at(void) { return fd >= 0 ? 0 : dial_at; }

static void lost(void) {
  if (fd >= 0) close(fd);
  fd = -1;
  dial_at = boot_ms() + backoff;
  backoff = backoff * 2 < BACKOFF_LAST ? backoff * 2 : BACKOFF_LAST;
}

void connection_dial(uint64_t now) {
  struct sockaddr_un addr = {.sun_family = AF_UNIX};
  dial_at = now + backoff;
  strcpy(addr.sun_path, self.socket_path); /* its length was checked with the options */
  fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof addr) != 0) {
    lost();
    return;
  }
  in_len = in_at = out.len = out_at = 0;
  out.overflow = false;
  frame_init(&parser, message, MESSAGE_MAX);
  messages_connected();
}

static void compact(void) {
  if (out_at == out.len) out_at = out.len = 0;
  if (out_at == 0 || out.cap - out.len >= CONNECTION_ROOM) return;
  memmove(out_buf, out_buf + out_at, out.len - out_at);
  out.len -= out_at;
  out_at = 0;
}

static bool room(void) {
  compact();
  return out.cap - out.len >= CONNECTION_ROOM;
}

/* False: no more now. */
static bool push(void) {
  while (out_at < out.len) {
    ssize_t n = send(fd, out_buf + out_at, out.len - out_at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      if (errno != EAGAIN) lost();
      return false;
    }
    out_at += (size_t)n;
  }
  return true;
}

void connection_flush(void) {
  while (fd >= 0) {
    bool more = true;
    while (room() && (more = messages_next(&out))) {
    }
    if (!push() || !more) return;
  }
}

static void handle_buffered(void) {
  while (in_at < in_len && room()) {
    size_t used;
    enum frame_status s = frame_feed(&parser, in_buf + in_at, in_len - in_at, &used);
    in_at += used;
    if (s == FRAME_BAD) {
      complain("what came from the agent is not the protocol", parser.error);
      lost();
      return;
    }
    if (s == FRAME_AGAIN) continue;
    backoff = BACKOFF_FIRST; /* somebody who speaks is there */
    messages_handle(&out, parser.type, parser.channel, message, parser.len);
    /* A long message (a START with a long environment) is not kept resident. */
    if (parser.len > 16384) madvise(message, sizeof message, MADV_DONTNEED);
  }
}

void connection_read(void) {
  for (;;) {
    handle_buffered();
    if (fd < 0 || in_at < in_len) return; /* full: goes on when the agent has read */
    ssize_t n = recv(fd, in_buf, sizeof in_buf, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      lost();
      return;
    }
    in_at = 0;
    in_len = (size_t)n;
  }
}
