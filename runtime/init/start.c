/* Reads a START message in place. */
#include <string.h>

#include "protocol.h"
#include "spawn.h"

/* The kernel refuses more than 2 MiB of strings under the usual stack limit; each takes 2 bytes at least. */
#define MAX_STRINGS 262144
static char *pointers[MAX_STRINGS + 2];

const char *start_parse(struct start *s, uint8_t *payload, size_t len) {
  struct fields it;
  struct field f;
  size_t args = 0, envs = 0;
  int more;
  fields_of(&it, payload, len);
  while ((more = fields_next(&it, &f)) > 0) {
    if (f.tag == F_ARG) args++;
    if (f.tag == F_ENV) envs++;
  }
  if (more < 0) return "malformed";
  if (args == 0) return "no argument";
  if (args + envs > MAX_STRINGS) return "too many strings";
  s->argv = pointers;
  s->envp = pointers + args + 1;
  s->dir = "/";
  args = envs = 0;
  fields_of(&it, payload, len);
  uint8_t *end = NULL; /* of the string before: the tag after it has been read, so its byte may become the NUL */
  while (fields_next(&it, &f) > 0) {
    if (end) *end = 0;
    end = NULL;
    bool string = f.tag == F_ARG || f.tag == F_ENV || f.tag == F_WORKING_DIR;
    uint64_t v = 0;
    if (string) {
      if (memchr(f.value, 0, f.len)) return "a string with a NUL";
      end = f.value + f.len;
    }
    switch (f.tag) {
      case F_ARG: s->argv[args++] = (char *)f.value; break;
      case F_ENV: s->envp[envs++] = (char *)f.value; break;
      case F_WORKING_DIR:
        if (f.len > 0) s->dir = (char *)f.value;
        break;
      case F_ROWS:
      case F_COLS:
      case F_STDIN:
      case F_TIMEOUT_MS:
      case F_GRACE_MS:
      case F_WINDOW:
        if (!field_u64(&f, &v)) return "malformed number";
        if (f.tag == F_ROWS || f.tag == F_COLS) s->tty = true;
        if (f.tag == F_ROWS) s->rows = (unsigned)(v & 0xffff);
        if (f.tag == F_COLS) s->cols = (unsigned)(v & 0xffff);
        if (f.tag == F_STDIN) s->want_stdin = v != 0;
        if (f.tag == F_TIMEOUT_MS) s->timeout_ms = v;
        if (f.tag == F_GRACE_MS) s->grace_ms = v;
        if (f.tag == F_WINDOW) s->window = v;
        break;
      default: break;
    }
  }
  if (end) *end = 0;
  s->argv[args] = NULL;
  s->envp[envs] = NULL;
  return NULL;
}
