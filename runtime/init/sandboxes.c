/* A directory with a socket for each sandbox; it outlives the probe, because sandboxes have it mounted. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "path.h"
#include "probe.h"
#include "protocol.h"
#include "util.h"

#define SOCKET_NAME "init.sock"
#define QUIET_MS 20

struct sandbox *sandboxes;
static int base = -1;

int sandboxes_open(const char *dir) {
  if (mkdir(dir, 0755) != 0 && errno != EEXIST) return -1;
  base = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return base < 0 ? -1 : 0;
}

static struct sandbox *find(const char *id) {
  for (struct sandbox *s = sandboxes; s; s = s->next)
    if (strcmp(s->id, id) == 0) return s;
  return NULL;
}

static int open_dir(const char *id) { return openat(base, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

static int make_socket(int dir) {
  struct sockaddr_un addr = {.sun_family = AF_UNIX, .sun_path = "/proc/self/fd/"};
  strcpy(put_number(addr.sun_path + 14, (uint64_t)dir), "/" SOCKET_NAME);
  if (unlinkat(dir, SOCKET_NAME, 0) != 0 && errno != ENOENT) return -1;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  mode_t before = umask(0111);
  int bound = bind(fd, (struct sockaddr *)&addr, sizeof addr);
  umask(before);
  if (bound == 0 && listen(fd, 16) == 0) return fd;
  int err = errno;
  close(fd);
  errno = err;
  return -1;
}

int sandbox_listen(const char *id) {
  if (find(id)) return 0;
  mode_t before = umask(0);
  int made = mkdirat(base, id, 0755);
  umask(before);
  if (made != 0 && errno != EEXIST) return errno;
  int dir = open_dir(id);
  if (dir < 0) return errno;
  int fd = make_socket(dir), err = errno;
  close(dir);
  if (fd < 0) return err;
  struct sandbox *s = calloc(1, sizeof *s);
  if (!s) {
    close(fd);
    return ENOMEM;
  }
  strcpy(s->id, id);
  s->listener = fd;
  s->next = sandboxes;
  sandboxes = s;
  return 0;
}

int sandbox_unlisten(const char *id) {
  for (struct sandbox **at = &sandboxes; *at; at = &(*at)->next) {
    struct sandbox *s = *at;
    if (strcmp(s->id, id) != 0) continue;
    close(s->listener);
    *at = s->next;
    free(s);
    break;
  }
  int dir = open_dir(id);
  if (dir < 0) return errno == ENOENT ? 0 : errno;
  int error = unlinkat(dir, SOCKET_NAME, 0) != 0 && errno != ENOENT ? errno : 0;
  close(dir);
  if (error == 0 && unlinkat(base, id, AT_REMOVEDIR) != 0 && errno != ENOENT) error = errno;
  return error;
}

int sandboxes_list(struct writer *w) {
  int fd = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *d = fd < 0 ? NULL : fdopendir(fd);
  if (!d) {
    int err = errno;
    if (fd >= 0) close(fd);
    return err;
  }
  for (struct dirent *e; (e = readdir(d));) {
    struct stat st;
    if (!valid_sandbox_id(e->d_name, strlen(e->d_name))) continue;
    if (fstatat(base, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)) put_str(w, F_SANDBOX, e->d_name);
  }
  closedir(d);
  return 0;
}

/* PID 1 of a PID namespace right below our own: of a container, not of a namespace that user code made in one. */
static bool is_init(const struct facts *peer) {
  static struct facts own;
  if (own.pid == 0 && facts_of(getpid(), &own) != 0) return false;
  return peer->ns_count == own.ns_count + 1 && peer->ns_pids[peer->ns_count - 1] == 1;
}

int sandbox_accept(struct sandbox *s, struct facts *peer, uint64_t now) {
  int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return -1;
  struct ucred cred;
  socklen_t len = sizeof cred;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 && cred.pid > 0 && facts_of(cred.pid, peer) == 0 &&
      is_init(peer))
    return fd;
  close(fd);
  s->quiet_until = now + QUIET_MS;
  return -1;
}
