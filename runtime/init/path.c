#include "path.h"

#include <string.h>

static bool word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool valid_sandbox_id(const char *s, size_t len) {
  if (len < 1 || len > 64 || !word(s[0])) return false;
  for (size_t i = 0; i < len; i++)
    if (!word(s[i]) && s[i] != '-' && s[i] != '_' && s[i] != '.') return false;
  return true;
}

bool valid_relative_path(const char *s, size_t len) {
  if (len < 1 || len > 1024) return false;
  size_t start = 0;
  for (size_t i = 0; i <= len; i++) {
    if (i < len && s[i] != '/') {
      if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f) return false;
      continue;
    }
    size_t n = i - start;
    if (n == 0 || n > 255) return false;
    if (s[start] == '.' && (n == 1 || (n == 2 && s[start + 1] == '.'))) return false;
    start = i + 1;
  }
  return true;
}

const char *readable_rest(const char *s, size_t len, const char **root) {
  static const char *const roots[] = {"/proc", "/sys/fs/cgroup"};
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
    size_t n = strlen(roots[i]);
    if (len <= n + 1 || memcmp(s, roots[i], n) != 0 || s[n] != '/') continue;
    if (!valid_relative_path(s + n + 1, len - n - 1)) return NULL;
    *root = roots[i];
    return s + n + 1;
  }
  return NULL;
}
