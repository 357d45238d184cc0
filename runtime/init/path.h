/* What a name or a path from the wire may look like. */
#ifndef HF_PATH_H
#define HF_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* 1 to 64 of [A-Za-z0-9._-], the first a letter or digit. `s` ends with a NUL at `len`. */
bool valid_sandbox_id(const char *s, size_t len);
/* Relative, no empty, "." or ".." part, no control characters, at most 1024 bytes, each part at most 255. */
bool valid_relative_path(const char *s, size_t len);
/* "/proc/..." or "/sys/fs/cgroup/..." with a valid relative rest; gives where that begins, else NULL. */
const char *readable_rest(const char *s, size_t len, const char **root);
#endif
