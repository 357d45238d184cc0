/* Files of the kernel and its cgroup tree. Every step of a path is opened by itself, so that no link leads away. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "path.h"
#include "probe.h"

#define CGROUP_ROOT "/sys/fs/cgroup"
#define CGROUP1_MAGIC 0x27e0eb
#define CGROUP2_MAGIC 0x63677270

static long magic_of(int fd) {
  struct statfs st;
  return fstatfs(fd, &st) == 0 ? (long)st.f_type : 0;
}

/* Walks to the directory that holds the last part of `rest`; *last is that part. Takes `dir` over. */
static int walk(int dir, const char *rest, bool first_may_be_link, const char **last, char buf[1025]) {
  strcpy(buf, rest);
  char *p = buf;
  for (bool first = true;; first = false) {
    char *slash = strchr(p, '/');
    if (!slash) {
      *last = p;
      return dir;
    }
    *slash = 0;
    int flags = O_PATH | O_DIRECTORY | O_CLOEXEC | (first && first_may_be_link ? 0 : O_NOFOLLOW);
    int next = openat(dir, p, flags), err = errno;
    close(dir);
    if (next < 0) {
      errno = err;
      return -1;
    }
    dir = next;
    p = slash + 1;
  }
}

int open_readable(const char *path, size_t len) {
  const char *root, *last, *rest = readable_rest(path, len, &root);
  char buf[1025];
  if (!rest) {
    errno = EINVAL;
    return -1;
  }
  bool cgroup = strcmp(root, CGROUP_ROOT) == 0;
  int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0) return -1;
  /* On cgroup v1 `cpu` is a link to `cpu,cpuacct`, beside it. */
  dir = walk(dir, rest, cgroup, &last, buf);
  if (dir < 0) return -1;
  int fd = openat(dir, last, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), err = errno;
  close(dir);
  if (fd < 0) errno = err;
  return fd;
}

static int remove_below(int hierarchy, const char *path) {
  const char *last;
  char buf[1025];
  int dir = walk(hierarchy, path, false, &last, buf);
  if (dir < 0) return errno == ENOENT ? 1 : -1;
  int result = 1;
  if (unlinkat(dir, last, AT_REMOVEDIR) != 0 && errno != ENOENT) result = errno == EBUSY || errno == ENOTEMPTY ? 0 : -1;
  int err = errno;
  close(dir);
  errno = err;
  return result;
}

/* Calls `each` with every hierarchy's root (which it takes over); stops at what is not 1 and returns that. */
static int each_hierarchy(int (*each)(int fd, const char *arg), const char *arg) {
  int root = open(CGROUP_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return -1;
  if (magic_of(root) == CGROUP2_MAGIC) return each(root, arg);
  DIR *d = fdopendir(root);
  if (!d) {
    close(root);
    return -1;
  }
  int result = 1;
  for (struct dirent *e; (e = readdir(d));) {
    if (e->d_name[0] == '.') continue;
    int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    long magic = magic_of(fd);
    if (magic != CGROUP1_MAGIC && magic != CGROUP2_MAGIC) {
      close(fd);
      continue;
    }
    int one = each(fd, arg);
    if (one < result) result = one;
  }
  closedir(d);
  return result;
}

int remove_cgroup(const char *path, size_t len) {
  if (!valid_relative_path(path, len)) {
    errno = EINVAL;
    return -1;
  }
  return each_hierarchy(remove_below, path);
}

static bool seen_v1, seen_v2;
static int note_version(int fd, const char *arg) {
  (void)arg;
  if (magic_of(fd) == CGROUP1_MAGIC)
    seen_v1 = true;
  else
    seen_v2 = true;
  close(fd);
  return 1;
}

const char *cgroup_version(void) {
  seen_v1 = seen_v2 = false;
  each_hierarchy(note_version, NULL);
  if (seen_v1) return seen_v2 ? "hybrid" : "v1";
  return seen_v2 ? "v2" : "none";
}
