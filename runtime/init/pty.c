#include "pty.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER 0x5441
#endif

int pty_resize(int master, unsigned rows, unsigned cols) {
  struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
  return ioctl(master, TIOCSWINSZ, &size);
}

int pty_open(unsigned rows, unsigned cols, int *master, int *slave) {
  int unlock = 0, number = 0;
  *slave = -1;
  *master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (*master < 0) return -1;
  if (ioctl(*master, TIOCSPTLCK, &unlock) == 0) {
    *slave = ioctl(*master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*slave < 0 && ioctl(*master, TIOCGPTN, &number) == 0) {
      char path[40] = "/dev/pts/";
      put_number(path + 9, (uint64_t)number);
      *slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    }
  }
  if (*slave >= 0 && pty_resize(*master, rows, cols) == 0) return 0;
  int err = errno;
  if (*slave >= 0) close(*slave);
  close(*master);
  errno = err;
  return -1;
}
