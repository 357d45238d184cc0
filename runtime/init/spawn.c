#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pty.h"
#include "util.h"

int exec_search(char **argv, char **envp) {
  const char *file = argv[0], *path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  if (*file == 0) return ENOENT;
  if (strchr(file, '/')) {
    execve(file, argv, envp);
    return errno;
  }
  size_t file_len = strlen(file);
  if (file_len > 255) return ENAMETOOLONG;
  for (char **e = envp; *e; e++)
    if (strncmp(*e, "PATH=", 5) == 0) path = *e + 5;
  int result = ENOENT;
  char full[4096 + 257];
  for (const char *p = path;;) {
    const char *end = strchr(p, ':');
    size_t n = end ? (size_t)(end - p) : strlen(p);
    if (n < 4096) {
      memcpy(full, p, n);
      if (n > 0 && full[n - 1] != '/') full[n++] = '/';
      memcpy(full + n, file, file_len + 1);
      execve(full, argv, envp);
      /* As execvp: look on where it is not there, and remember that one could not be run. */
      if (errno == EACCES) result = EACCES;
      else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV && errno != ETIMEDOUT)
        return errno;
    }
    if (!end) return result;
    p = end + 1;
  }
}

/* The kernel should take user code before PID 1 when memory is short. It has to be said by the child itself, once it
 * is dumpable: /proc/self of one that is not belongs to root. */
static void prefer_as_victim(void) {
  char text[16], *p = text;
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return;
  if (read_file("/proc/self/oom_score_adj", text, sizeof text) <= 0) return;
  bool negative = *p == '-';
  if (negative) p++;
  int v = 0;
  while (*p >= '0' && *p <= '9') v = v * 10 + (*p++ - '0');
  v = (negative ? -v : v) + 100;
  if (v > 1000) v = 1000;
  p = text;
  if (v < 0) *p++ = '-';
  p = put_number(p, (uint64_t)(v < 0 ? -v : v));
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t n = write(fd, text, (size_t)(p - text));
  (void)n;
  close(fd);
}

static _Noreturn void give_up(int fd, enum stage stage, int error) {
  struct spawn_failure failure = {(int)stage, error};
  ssize_t n = write(fd, &failure, sizeof failure);
  (void)n;
  _exit(127);
}

static _Noreturn void child(const struct start *s, const int std[3], int status, int private_fd) {
  setsid();
  if (private_fd >= 0) close(private_fd); /* before it is dumpable: others of this user could take it */
  if (s->tty) ioctl(std[0], TIOCSCTTY, 0);
  for (int i = 0; i < 3; i++)
    if (dup2(std[i], i) < 0) give_up(status, STAGE_EXEC, errno);
  /* By the bare system call: the C library keeps 32 and 33 to itself, and they can be inherited ignored. */
  static const unsigned long defaults[8];
  for (int sig = 1; sig < 65; sig++) syscall(SYS_rt_sigaction, sig, defaults, NULL, 8);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  prefer_as_victim();
  if (chdir(s->dir) != 0) give_up(status, STAGE_CHDIR, errno);
  give_up(status, STAGE_EXEC, exec_search(s->argv, s->envp));
}

struct pipe_pair {
  int ours, theirs;
};

static int open_pipe(struct pipe_pair *pp, bool we_read) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return -1;
  pp->ours = fds[we_read ? 0 : 1];
  pp->theirs = fds[we_read ? 1 : 0];
  return set_nonblocking(pp->ours);
}

int spawn(struct process *p, const struct start *s, int private_fd, enum stage *stage) {
  struct pipe_pair in = {-1, -1}, out = {-1, -1}, err = {-1, -1}, status = {-1, -1};
  int error = 0, std[3];
  *stage = STAGE_FORK;
  if (open_pipe(&status, true) != 0) goto failed;
  if (s->tty) {
    *stage = STAGE_PTY;
    if (pty_open(s->rows, s->cols, &out.ours, &out.theirs) != 0) goto failed;
    *stage = STAGE_FORK;
    std[0] = std[1] = std[2] = out.theirs;
    in.ours = fcntl(out.ours, F_DUPFD_CLOEXEC, 3);
    if (in.ours < 0) goto failed;
  } else {
    if (open_pipe(&out, true) != 0 || open_pipe(&err, true) != 0) goto failed;
    if (s->want_stdin ? open_pipe(&in, false) != 0 : (in.theirs = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
      goto failed;
    std[0] = in.theirs;
    std[1] = out.theirs;
    std[2] = err.theirs;
  }
  p->started_at = boot_ms();
  pid_t pid = fork();
  if (pid == 0) child(s, std, status.theirs, private_fd);
  if (pid < 0) goto failed;
  p->pid = pid;
  p->reaped = false;
  p->state = P_STARTING;
  p->tty = s->tty;
  p->status_fd = status.ours;
  p->out[STDOUT].fd = out.ours;
  p->out[STDERR].fd = err.ours;
  p->in.fd = in.ours;
  p->in.wanted = in.ours >= 0;
  p->in.granted = 0;
  p->in.credit_due = p->in.wanted;
  for (int i = 0; i < 2; i++) {
    p->out[i].open = true;
    p->out[i].limit = s->window;
  }
  process_limit(p, s->timeout_ms);
  p->grace_ms = s->grace_ms;
  goto close_theirs;

failed:
  error = errno;
  if (in.ours >= 0) close(in.ours);
  if (out.ours >= 0) close(out.ours);
  if (err.ours >= 0) close(err.ours);
  if (status.ours >= 0) close(status.ours);
close_theirs:
  if (in.theirs >= 0) close(in.theirs);
  if (out.theirs >= 0) close(out.theirs);
  if (err.theirs >= 0) close(err.theirs);
  if (status.theirs >= 0) close(status.theirs);
  return error;
}
