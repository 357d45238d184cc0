/* holdfast-init: PID 1 of a sandbox (`init`, `gate`) and the eyes of an agent on a runtime's kernel (`probe`). */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "protocol.h"
#include "util.h"

/* Where a standard stream is missing, the next file that is opened would become it. */
static void fill_standard_streams(void) {
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) _exit(71);
}

static int version(void) {
  static const char text[] = "holdfast-init build " HF_BUILD "\n";
  return write(1, text, sizeof text - 1) < 0;
}

int main(int argc, char **argv) {
  fill_standard_streams();
  const char *mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "init") == 0) return init_main(argc, argv);
  if (strcmp(mode, "probe") == 0) return probe_main(argc, argv);
  if (strcmp(mode, "gate") == 0) return gate_main(argc, argv);
  if (strcmp(mode, "version") == 0) return version();
  complain("usage: holdfast-init init|probe|gate|version", NULL);
  return 64;
}
