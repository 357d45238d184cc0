/* Requests about the kernel: one message in, one reply out. */
#include <errno.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "path.h"
#include "probe.h"
#include "protocol.h"
#include "util.h"

#define FILE_MAX 262144

static char file_buf[FILE_MAX];

static int copy_string(const struct field *f, char *buf, size_t cap) {
  if (f->len >= cap || memchr(f->value, 0, f->len)) return EINVAL;
  memcpy(buf, f->value, f->len);
  buf[f->len] = 0;
  return 0;
}

static void put_file(struct writer *w, const struct field *path) {
  char name[1100];
  size_t at = nested_begin(w, F_FILE);
  put_bytes(w, F_PATH, path->value, path->len);
  int error = copy_string(path, name, sizeof name);
  if (error == 0) {
    int fd = open_readable(name, path->len);
    ssize_t n = fd < 0 ? -1 : read_fd(fd, file_buf, sizeof file_buf);
    error = n < 0 ? errno : 0;
    if (fd >= 0) close(fd);
    if (n >= 0 && (size_t)n + 64 > w->cap - w->len) error = EMSGSIZE;
    if (error == 0) put_bytes(w, F_CONTENT, file_buf, (size_t)n);
  }
  if (error != 0) put_str(w, F_ERRNO, errno_name(error));
  nested_end(w, at);
}

static int put_statfs(struct writer *w, const char *path) {
  struct statfs st;
  if (path[0] != '/') return EINVAL;
  if (statfs(path, &st) != 0) return errno;
  put_u64(w, F_FS_TYPE, (uint64_t)st.f_type & 0xffffffff);
  /* Blocks are counted in f_frsize; statfs(2) on Linux has both, and they differ on some filesystems. */
  put_u64(w, F_BLOCK_SIZE, (uint64_t)(st.f_frsize != 0 ? st.f_frsize : st.f_bsize));
  put_u64(w, F_BLOCKS, st.f_blocks);
  put_u64(w, F_BAVAIL, st.f_bavail);
  put_u64(w, F_BFREE, st.f_bfree);
  put_u64(w, F_FILES, st.f_files);
  put_u64(w, F_FFREE, st.f_ffree);
  return 0;
}

static int put_process(struct writer *w, uint64_t pid) {
  static struct facts f;
  if (pid < 1 || pid > 0x7fffffff) return EINVAL;
  int error = facts_of((pid_t)pid, &f);
  if (error == ESRCH) return 0;
  if (error == 0) put_facts(w, &f);
  return error;
}

static int put_removal(struct writer *w, const char *path) {
  int removed = remove_cgroup(path, strlen(path));
  if (removed < 0) return errno;
  put_u64(w, F_REMOVED, (uint64_t)removed);
  return 0;
}

static int with_text(struct writer *w, struct writer *reply, uint8_t type, const char *text) {
  switch (type) {
    case T_STATFS: return put_statfs(reply, text);
    case T_REMOVE_CGROUP: return put_removal(reply, text);
    default: break;
  }
  if (!valid_sandbox_id(text, strlen(text))) return EINVAL;
  if (type == T_LISTEN) return sandbox_listen(text);
  channel_close_sandbox(w, text, "unlistened");
  return sandbox_unlisten(text);
}

void answer_request(struct writer *w, uint8_t type, uint8_t *payload, size_t len) {
  static uint8_t reply[MESSAGE_MAX];
  struct writer r = {reply, 0, sizeof reply, false};
  struct fields it;
  struct field f;
  char text[1100] = "";
  uint64_t request = 0, pid = 0;
  int error = 0, more;
  bool known = type >= T_READ_FILES && type <= T_REMOVE_CGROUP;
  size_t at = message_begin(&r, T_REPLY, 0);
  fields_of(&it, payload, len);
  while ((more = fields_next(&it, &f)) > 0) {
    if (f.tag == F_REQUEST && field_u64(&f, &request)) put_u64(&r, F_REQUEST, request);
    if (f.tag == F_PID) (void)field_u64(&f, &pid);
    if (f.tag == F_PATH && type == T_READ_FILES && known)
      put_file(&r, &f);
    else if ((f.tag == F_PATH || f.tag == F_SANDBOX) && copy_string(&f, text, sizeof text) != 0)
      error = EINVAL;
  }
  if (more < 0) error = EINVAL;
  if (!known)
    error = ENOSYS;
  else if (error == 0) {
    switch (type) {
      case T_READ_FILES: break;
      case T_PROCESS: error = put_process(&r, pid); break;
      case T_LIST: error = sandboxes_list(&r); break;
      default: error = with_text(w, &r, type, text);
    }
  }
  if (error == ENOSYS && !known) {
    size_t e = message_begin(w, T_ERROR, 0);
    put_u64(w, F_REQUEST, request);
    put_u64(w, F_TYPE, type);
    put_str(w, F_MESSAGE, "unknown type");
    message_end(w, e);
    return;
  }
  if (error == 0 && r.overflow) error = EMSGSIZE;
  if (error != 0) {
    r.len = at;
    r.overflow = false;
    message_begin(&r, T_REPLY, 0);
    put_u64(&r, F_REQUEST, request);
    put_str(&r, F_ERRNO, errno_name(error));
  }
  /* In fragments: the header of each before its part of the payload. */
  const uint8_t *p = reply + FRAME_HEADER;
  size_t left = r.len - FRAME_HEADER;
  do {
    size_t n = left < FRAME_PAYLOAD_MAX ? left : FRAME_PAYLOAD_MAX;
    if (w->cap - w->len < n + FRAME_HEADER) {
      w->overflow = true; /* not seen: the loop leaves room for the longest reply */
      return;
    }
    frame_header(w->buf + w->len, T_REPLY, left > n ? FRAME_MORE : 0, 0, (uint32_t)n);
    memcpy(w->buf + w->len + FRAME_HEADER, p, n);
    w->len += n + FRAME_HEADER;
    p += n;
    left -= n;
  } while (left > 0);
}
