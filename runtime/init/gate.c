#include "util.h"

int gate_main(int argc, char **argv) {
  (void)argc;
  (void)argv;
  complain("gate: not built yet", NULL);
  return 64;
}
