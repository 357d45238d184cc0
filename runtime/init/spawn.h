#ifndef HF_SPAWN_H
#define HF_SPAWN_H
#include "process.h"

struct start {
  uint32_t id;
  char **argv, **envp; /* each ends with NULL */
  const char *dir;
  bool tty, want_stdin;
  unsigned rows, cols;
  uint64_t timeout_ms, grace_ms, window;
};
/* What a START message says; NULL, or why it is refused. The strings stay in the message, whose bytes it edits. */
const char *start_parse(struct start *s, uint8_t *payload, size_t len);
/* Starts it. Whether exec worked turns up on p->status_fd. 0, or an errno with *stage. `private_fd` is not the child's. */
int spawn(struct process *p, const struct start *s, int private_fd, enum stage *stage);
/* Replaces this process (both after fork and for the gate); returns only on failure, with the errno. */
int exec_search(char **argv, char **envp);
/* What the child wrote on its status pipe before it gave up. */
struct spawn_failure {
  int stage, error;
};
#endif
