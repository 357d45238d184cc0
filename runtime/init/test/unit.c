/* Unit tests of what can be tested without a kernel's help. Built with the address and undefined-behaviour sanitizers. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../frame.h"
#include "../init.h"
#include "../path.h"
#include "../probe.h"
#include "../process.h"
#include "../protocol.h"
#include "../spawn.h"
#include "../util.h"

static int checks, failures;
#define CHECK(what)                                               \
  do {                                                            \
    checks++;                                                     \
    if (!(what)) {                                                \
      failures++;                                                 \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);  \
    }                                                             \
  } while (0)

/* A buffer of exactly its size on the heap, so that one byte too far is seen. */
static uint8_t *exact(const void *data, size_t n) {
  uint8_t *p = malloc(n ? n : 1);
  if (!p) abort();
  if (n > 0) memcpy(p, data, n);
  return p;
}

static void messages_survive_any_cut(void) {
  uint8_t sent[256], got[128];
  struct writer w = {sent, 0, sizeof sent, false};
  size_t at = message_begin(&w, 7, 0x01020304);
  put_str(&w, 1, "hello");
  put_u64(&w, 2, 0x0102030405060708);
  CHECK(message_end(&w, at));
  at = message_begin(&w, 8, 9);
  CHECK(message_end(&w, at));
  for (size_t cut = 0; cut <= w.len; cut++) {
    struct frame_parser p;
    frame_init(&p, got, sizeof got - 1);
    int messages = 0;
    size_t starts[] = {0, cut}, ends[] = {cut, w.len};
    for (int part = 0; part < 2; part++) {
      uint8_t *data = exact(sent + starts[part], ends[part] - starts[part]);
      for (size_t from = 0, used, n = ends[part] - starts[part]; from < n; from += used) {
        enum frame_status s = frame_feed(&p, data + from, n - from, &used);
        CHECK(s != FRAME_BAD);
        if (s != FRAME_MESSAGE) continue;
        messages++;
        if (messages == 1) {
          struct fields it;
          struct field f;
          uint64_t v = 0;
          CHECK(p.type == 7 && p.channel == 0x01020304);
          fields_of(&it, got, p.len);
          CHECK(fields_next(&it, &f) == 1 && f.tag == 1 && f.len == 5 && memcmp(f.value, "hello", 5) == 0);
          CHECK(!field_u64(&f, &v));
          CHECK(fields_next(&it, &f) == 1 && field_u64(&f, &v) && v == 0x0102030405060708);
          CHECK(fields_next(&it, &f) == 0);
        } else
          CHECK(p.type == 8 && p.channel == 9 && p.len == 0);
      }
      free(data);
    }
    CHECK(messages == 2);
  }
}

static enum frame_status feed(const char *bytes, size_t n, size_t cap, const char **error) {
  static struct frame_parser p;
  uint8_t *buf = malloc(cap + 1), *data = exact(bytes, n);
  frame_init(&p, buf, cap);
  enum frame_status s = FRAME_AGAIN;
  for (size_t at = 0, used; at < n && s != FRAME_BAD; at += used) s = frame_feed(&p, data + at, n - at, &used);
  *error = p.error ? p.error : "";
  if (s == FRAME_BAD) {
    size_t used;
    CHECK(frame_feed(&p, data, n, &used) == FRAME_BAD && used == 0);
  }
  free(buf);
  free(data);
  return s;
}

static void garbage_is_refused(void) {
  const char *why;
#define BAD(bytes, reason) CHECK(feed(bytes, sizeof bytes - 1, 64, &why) == FRAME_BAD && strcmp(why, reason) == 0)
  BAD("G\1\0\0\0\0\0\0\0\0\0\0", "not a frame");
  BAD("H\1\2\0\0\0\0\0\0\0\0\0", "unknown flags");
  BAD("H\1\0\1\0\0\0\0\0\0\0\0", "unknown flags");
  BAD("H\1\0\0\0\0\0\0\0\1\0\1", "frame too long");
  BAD("H\1\0\0\0\0\0\0\377\377\377\377", "frame too long");
  BAD("H\1\0\0\0\0\0\0\0\0\0\101", "message too long");
  BAD("H\1\1\0\0\0\0\0\0\0\0\0", "empty fragment");
  BAD("H\1\1\0\0\0\0\0\0\0\0\1xH\2\0\0\0\0\0\0\0\0\0\1x", "fragments of two messages mixed");
  BAD("H\1\1\0\0\0\0\1\0\0\0\1xH\1\0\0\0\0\0\2\0\0\0\1x", "fragments of two messages mixed");
#undef BAD
  CHECK(feed("H\1\1\0\0\0\0\0\0\0\0\40aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaH\1\0\0\0\0\0\0\0\0\0\41", 56, 64, &why) == FRAME_BAD);
  CHECK(feed("H\1\0\0\0\0\0\0\0\0\0\100", 12, 64, &why) == FRAME_AGAIN);
}

static int fields_in(const char *bytes, size_t n) {
  struct fields it;
  struct field f;
  uint8_t *p = exact(bytes, n);
  int more, count = 0;
  fields_of(&it, p, n);
  while ((more = fields_next(&it, &f)) > 0) count++;
  free(p);
  return more < 0 ? more : count;
}

static void fields_are_checked(void) {
  CHECK(fields_in("", 0) == 0);
  CHECK(fields_in("\1\0\0\0\0", 5) == 1);
  CHECK(fields_in("\1\0\0\0", 4) == -1);
  CHECK(fields_in("\1\0\0\0\2x", 6) == -1);
  CHECK(fields_in("\1\377\377\377\377x", 6) == -1);
  CHECK(fields_in("\1\0\0\0\1x\2\0\0\0\0", 11) == 2);
}

static void writers_never_overflow(void) {
  for (size_t cap = 0; cap < 60; cap++) {
    uint8_t *buf = malloc(cap ? cap : 1);
    struct writer w = {buf, 0, cap, false};
    size_t at = message_begin(&w, 1, 1), nested = nested_begin(&w, 5);
    put_u64(&w, 2, 3);
    nested_end(&w, nested);
    put_str(&w, 3, "some text");
    bool whole = message_end(&w, at);
    CHECK(whole == (cap >= 12 + 5 + 13 + 14) && w.len == (whole ? 44u : 0u) && !w.overflow);
    free(buf);
  }
}

static void paths_are_checked(void) {
  static const char *const ids[] = {"a", "0", "holdfast-1.b_C", "5e2c4a3e-9f0b-4b57-8a53-1f4f0d0f8f2e"};
  static const char *const not_ids[] = {"", ".", "..", ".a", "-a", "_a", "a/b", "a b", "a\n", "\303\244"};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) CHECK(valid_sandbox_id(ids[i], strlen(ids[i])));
  for (size_t i = 0; i < sizeof not_ids / sizeof *not_ids; i++) CHECK(!valid_sandbox_id(not_ids[i], strlen(not_ids[i])));
  char longest[66] = "";
  memset(longest, 'x', 65);
  CHECK(valid_sandbox_id(longest, 64) && !valid_sandbox_id(longest, 65));
  CHECK(!valid_sandbox_id("a\0b", 3));

  static const char *const good[] = {"a", "a/b", "holdfast/x", "system.slice/a\\x2db.slice", "..a", "a..", "..."};
  static const char *const wrong[] = {"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b", "a/../b", "a\nb", "a\177"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) CHECK(valid_relative_path(good[i], strlen(good[i])));
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) CHECK(!valid_relative_path(wrong[i], strlen(wrong[i])));
  char deep[1100];
  memset(deep, 'a', sizeof deep);
  CHECK(valid_relative_path(deep, 255) && !valid_relative_path(deep, 256));
  for (size_t i = 200; i < sizeof deep; i += 200) deep[i] = '/';
  CHECK(valid_relative_path(deep, 1024) && !valid_relative_path(deep, 1025));

  const char *root;
#define REST(s) readable_rest(s, strlen(s), &root)
  CHECK(REST("/proc/1/stat") && strcmp(root, "/proc") == 0);
  CHECK(REST("/sys/fs/cgroup/a/b") && strcmp(REST("/sys/fs/cgroup/a/b"), "a/b") == 0);
  CHECK(!REST("/proc") && !REST("/proc/") && !REST("/procx/1") && !REST("/proc/../etc") && !REST("/sys/fs/cgroupx/a"));
  CHECK(!REST("") && !REST("/etc/passwd") && !REST("proc/1") && !REST("/sys/fs/cgroup//a"));
#undef REST
}

static void proc_files_are_read(void) {
  struct proc_stat st;
  CHECK(parse_proc_stat("12 (a) b) Z) S 3 4 5 6 -1 7 8 9 10 11 12 13 14 15 16 20 0 1 987654 1 2 3", &st));
  CHECK(st.state == 'S' && st.ppid == 3 && st.pgrp == 4 && st.start_ticks == 987654);
  CHECK(!parse_proc_stat("", &st) && !parse_proc_stat("1 (x)", &st) && !parse_proc_stat("1 (x) S 1", &st));
  CHECK(!parse_proc_stat("1 (x) S a b", &st));
  uint32_t pids[4];
  CHECK(parse_ns_pids("Name:\tx\nNSpid:\t12\t7\t1\nUid:\t0\n", pids, 4) == 3 && pids[0] == 12 && pids[2] == 1);
  CHECK(parse_ns_pids("Name:\tNSpid:\t1\n", pids, 4) == 0 && parse_ns_pids("\nNSpid:\n", pids, 4) == 0);
  CHECK(parse_ns_pids("\nNSpid:\t1\t2\t3\t4\t5\n", pids, 4) == 4);
  struct facts self_facts;
  CHECK(facts_of(getpid(), &self_facts) == 0 && self_facts.ns_pids[self_facts.ns_count - 1] == (uint32_t)getpid());
  char small[8];
  CHECK(read_file("/proc/self/status", small, sizeof small) == -1);
  CHECK(read_file("/proc/self/nothing", small, sizeof small) == -1);
}

static void numbers(void) {
  uint64_t v;
  char text[24];
  CHECK(parse_number("0", 10, &v) && v == 0 && parse_number("10", 10, &v) && !parse_number("11", 10, &v));
  CHECK(!parse_number("", 10, &v) && !parse_number("-1", 10, &v) && !parse_number("1x", 10, &v));
  CHECK(!parse_number("9999999999999999999", UINT64_MAX, &v));
  put_number(text, UINT64_MAX);
  CHECK(strcmp(text, "18446744073709551615") == 0);
  CHECK(strcmp(errno_name(2), "ENOENT") == 0 && strcmp(errno_name(9999), "E9999") == 0);
}

static void start_is_read_in_place(void) {
  uint8_t *buf = malloc(4096 + 1);
  struct writer w = {buf, 0, 4096, false};
  struct start s = {.id = 1};
  put_str(&w, F_ARG, "sh");
  put_str(&w, F_ENV, "A=1");
  put_u64(&w, F_TIMEOUT_MS, 5);
  put_str(&w, F_ARG, "");
  put_str(&w, F_WORKING_DIR, "/tmp");
  put_u64(&w, F_ROWS, 0x10018);
  put_str(&w, 200, "unknown");
  put_str(&w, F_ENV, "B=");
  CHECK(start_parse(&s, buf, w.len) == NULL);
  CHECK(strcmp(s.argv[0], "sh") == 0 && strcmp(s.argv[1], "") == 0 && !s.argv[2]);
  CHECK(strcmp(s.envp[0], "A=1") == 0 && strcmp(s.envp[1], "B=") == 0 && !s.envp[2]);
  CHECK(strcmp(s.dir, "/tmp") == 0 && s.timeout_ms == 5 && s.tty && s.rows == 0x18);
  w.len = 0;
  put_str(&w, F_ENV, "A=1");
  CHECK(start_parse(&s, buf, w.len) != NULL);
  w.len = 0;
  put_bytes(&w, F_ARG, "a\0b", 3);
  CHECK(start_parse(&s, buf, w.len) != NULL);
  w.len = 0;
  put_str(&w, F_ARG, "a");
  put_str(&w, F_ROWS, "24");
  CHECK(start_parse(&s, buf, w.len) != NULL);
  CHECK(start_parse(&s, buf, w.len - 1) != NULL);
  free(buf);
}

static void output_is_kept_until_acknowledged(void) {
  uint8_t *ring = malloc(RING);
  struct output o = {.fd = -1, .ring = ring, .open = true, .limit = 100};
  const uint8_t *data;
  int fds[2];
  CHECK(pipe(fds) == 0 && set_nonblocking(fds[0]) == 0);
  o.fd = fds[0];
  uint8_t *bytes = malloc(RING);
  for (size_t i = 0; i < RING; i++) bytes[i] = (uint8_t)(i * 7);
  CHECK(write(fds[1], bytes, 50000) == 50000);
  output_read(&o);
  CHECK(o.total == 50000 && output_ready(&o, &data) == 100 && memcmp(data, bytes, 100) == 0);
  o.sent = 100;
  CHECK(output_ready(&o, &data) == 0);
  output_credit(&o, 60, 1000);
  CHECK(output_ready(&o, &data) == 900 && memcmp(data, bytes + 100, 900) == 0);
  output_reconnect(&o);
  CHECK(output_ready(&o, &data) == 0);
  output_credit(&o, 40, 50000); /* an older acknowledgement gives nothing back */
  CHECK(o.acked == 60 && output_ready(&o, &data) == 50000 - 60 && memcmp(data, bytes + 60, 100) == 0);
  o.sent = 50000;
  output_credit(&o, 49000, 200000);
  CHECK(write(fds[1], bytes, 60000) == 60000);
  output_read(&o);
  CHECK(o.total == 110000 && output_wants_read(&o));
  uint32_t first = output_ready(&o, &data);
  CHECK(first == RING - 50000 && memcmp(data, bytes, first) == 0);
  o.sent += first;
  CHECK(output_ready(&o, &data) == 60000 - first && memcmp(data, bytes + first, 60000 - first) == 0);
  CHECK(write(fds[1], bytes, 10000) == 10000);
  output_read(&o);
  CHECK(o.total == 49000 + RING && !output_wants_read(&o));
  output_credit(&o, UINT64_MAX, UINT64_MAX); /* more than there ever was */
  CHECK(o.acked == o.total && o.sent == o.total && output_wants_read(&o));
  close(fds[1]);
  while (o.fd >= 0) {
    output_read(&o);
    if (o.fd >= 0) output_credit(&o, o.total, UINT64_MAX);
  }
  o.sent = o.total;
  CHECK(output_ended(&o));
  free(ring);
  free(bytes);
}

static void input_is_bounded(void) {
  uint8_t *ring = malloc(RING), *bytes = calloc(1, RING + 1);
  int fds[2];
  CHECK(pipe(fds) == 0 && set_nonblocking(fds[1]) == 0);
  struct input in = {.fd = fds[1], .ring = ring};
  CHECK(input_add(&in, 0, bytes, RING));
  CHECK(!input_add(&in, RING, bytes, 1) && !input_add(&in, RING + 1, bytes, 0));
  CHECK(input_add(&in, 0, bytes, RING)); /* known already */
  input_write(&in, false);
  CHECK(in.written == RING && in.credit_due);
  CHECK(input_add(&in, RING - 10, bytes, 20) && in.received == RING + 10);
  in.end = true;
  close(fds[0]);
  signal(SIGPIPE, SIG_IGN);
  input_write(&in, false); /* nobody reads: dropped, and closed */
  CHECK(in.written == in.received && in.fd == -1);
  CHECK(input_add(&in, in.received, bytes, RING) && in.written == in.received);
  free(ring);
  free(bytes);
}

static void ids_are_used_once(void) {
  enum stage why;
  struct process *a = process_take(5, &why);
  CHECK(a != NULL);
  a->state = P_RUNNING;
  CHECK(!process_take(5, &why) && why == STAGE_DUPLICATE);
  process_free(a, false);
  a = process_take(5, &why);
  CHECK(a != NULL);
  a->state = P_EXITED;
  process_free(a, true);
  CHECK(!process_take(5, &why) && !process_take(4, &why) && why == STAGE_DUPLICATE);
  a = process_take(ID_SETUP, &why);
  CHECK(a != NULL);
  a->state = P_EXITED;
  process_free(a, true);
  CHECK(!process_take(ID_SETUP, &why) && process_take(ID_MAIN, &why));
  for (uint32_t i = 0; i < MAX_PROCESSES; i++) {
    a = process_take(100 + i, &why);
    CHECK(a != NULL);
    if (a) a->state = P_RUNNING;
  }
  CHECK(!process_take(1000, &why) && why == STAGE_FORK);
}

static void who_ended_it_is_told(void) {
  static const struct {
    int outside, outside_ms_before, agent, term_signal;
    enum ended_by by;
    int told;
  } cases[] = {
      {15, 0, 0, 0, BY_OUTSIDE, 15},      {15, 10000, 0, 0, BY_OUTSIDE, 15}, {15, 10001, 0, 0, BY_ITSELF, 0},
      {2, 5, 0, 0, BY_OUTSIDE, 2},        {3, 5, 0, 0, BY_OUTSIDE, 3},       {37, 5, 0, 0, BY_OUTSIDE, 37},
      {1, 0, 0, 0, BY_ITSELF, 0},         {10, 0, 0, 0, BY_ITSELF, 0},       {15, 5, 0, 15, BY_OUTSIDE, 15},
      {15, 10001, 0, 15, BY_ITSELF, 0},   {15, 5, 0, 9, BY_ITSELF, 0},       {1, 5, 0, 1, BY_ITSELF, 1},
      {10, 5, 0, 10, BY_ITSELF, 10},      {1, 10001, 0, 1, BY_ITSELF, 0},    {64, 5, 0, 64, BY_ITSELF, 64},
      {15, 5, 15, 15, BY_AGENT, 15},      {15, 5, 15, 0, BY_AGENT, 15},      {0, 0, 15, 0, BY_AGENT, 0},
      {0, 0, 0, 15, BY_ITSELF, 0},        {0, 0, 0, 64, BY_ITSELF, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static struct process p;
    memset(&p, 0, sizeof p);
    p.exit_code = cases[i].term_signal ? -1 : 0;
    p.term_signal = cases[i].term_signal ? cases[i].term_signal : -1;
    p.ended_at = 1000000;
    if (cases[i].outside) p.outside_at[cases[i].outside] = p.ended_at - (uint64_t)cases[i].outside_ms_before;
    if (cases[i].agent) p.signals[BY_AGENT] = (uint64_t)1 << cases[i].agent;
    CHECK(judge_end(&p) == cases[i].by);
    CHECK(outside_signal_of_end(&p) == cases[i].told);
  }
  /* Of several the last; an old one does not hide behind a late reload. */
  static struct process p = {.term_signal = -1, .ended_at = 1000000};
  p.outside_at[SIGTERM] = 995000;
  p.outside_at[SIGINT] = 996000;
  p.outside_at[SIGHUP] = 997000;
  CHECK(outside_signal_of_end(&p) == SIGINT);
  p.outside_at[SIGTERM] = p.outside_at[SIGINT] = 5000;
  CHECK(judge_end(&p) == BY_ITSELF);
}

static void limits_are_changed(void) {
  static struct process p = {.state = P_RUNNING, .started_at = 500};
  CHECK(process_limit(&p, 100) == 0 && p.term_at == 600);
  CHECK(process_limit(&p, UINT64_MAX) == 0 && p.term_at == 0); /* beyond all time: none */
  CHECK(process_limit(&p, UINT64_MAX - 500) == 0 && p.term_at == UINT64_MAX);
  CHECK(process_limit(&p, 0) == 0 && p.term_at == 0);
  p.signals[BY_TIMEOUT] = (uint64_t)1 << SIGTERM;
  CHECK(process_limit(&p, 100) != 0 && p.term_at == 0);
  p.signals[BY_TIMEOUT] = 0;
  p.state = P_EXITED;
  CHECK(process_limit(&p, 100) != 0 && p.term_at == 0);
}

static void a_fence_is_set_moved_and_lifted(void) {
  uint64_t now = boot_ms();
  CHECK(!fence_due());
  CHECK(fence_set(false, 0, 1000) == EINVAL && self.fence_at == 0);
  CHECK(fence_set(true, now + 600000, 1000) == EINVAL && self.fence_at == 0); /* a time that is still to come */
  CHECK(fence_set(true, now, UINT64_MAX) == EINVAL && self.fence_at == 0);
  CHECK(fence_set(true, now, 600000) == 0 && self.fence_at == now + 600000);
  /* An older one, or a shorter time, takes nothing back. */
  CHECK(fence_set(true, now - 1, 600000) == 0 && self.fence_at == now + 600000);
  CHECK(fence_set(true, now, 5) == 0 && self.fence_at == now + 600000);
  CHECK(fence_set(true, now, 700000) == 0 && self.fence_at == now + 700000);
  CHECK(!fence_due());
  CHECK(fence_set(false, 0, 0) == 0 && self.fence_at == 0);
  /* Time that has passed already: the fence is due, and no word comes early enough any more. */
  CHECK(fence_set(true, now, 0) == 0 && self.fence_at == 0);
  self.fence_at = now;
  CHECK(fence_due());
  CHECK(fence_set(true, now, 600000) == ESHUTDOWN && self.fence_at == now);
  CHECK(fence_set(false, 0, 0) == ESHUTDOWN && self.fence_at == now);
  self.fence_at = 0;
  self.fenced_at = now;
  CHECK(!fence_due() && fence_set(true, now, 600000) == ESHUTDOWN);
  self.fenced_at = 0;
}

static void what_the_fence_killed_is_told(void) {
  static struct process p = {.state = P_EXITED, .exit_code = -1, .term_signal = SIGKILL, .fenced = true};
  p.signals[BY_AGENT] = (uint64_t)1 << SIGKILL;
  CHECK(judge_end(&p) == BY_FENCE);
  p.term_signal = SIGTERM; /* it was ending already */
  CHECK(judge_end(&p) != BY_FENCE);
  p.fenced = false;
  p.term_signal = SIGKILL;
  CHECK(judge_end(&p) == BY_AGENT);
}

/* The longest hello: all places and all remembered signals. It has to fit what connection.c keeps free. */
static void the_longest_hello_fits(void) {
  static uint8_t buf[65536];
  struct writer w = {buf, 0, sizeof buf, false};
  for (int i = 0; i < MAX_PROCESSES; i++) {
    struct process *p = &processes[i];
    p->state = P_EXITED;
    p->id = 100 + (uint32_t)i;
    p->failed = true;
    p->stage = STAGE_DUPLICATE;
    p->error = ENAMETOOLONG;
    p->exit_code = p->term_signal = 1;
    p->outside_signal = SIGTERM;
  }
  self.outside_count = 3 * MAX_OUTSIDE;
  messages_connected();
  CHECK(messages_next(&w) && !w.overflow && w.len < CONNECTION_ROOM);
  self.outside_count = self.outside_told = 0;
  for (int i = 0; i < MAX_PROCESSES; i++) process_free(&processes[i], false);
}

int main(void) {
  messages_survive_any_cut();
  garbage_is_refused();
  fields_are_checked();
  writers_never_overflow();
  paths_are_checked();
  proc_files_are_read();
  numbers();
  start_is_read_in_place();
  output_is_kept_until_acknowledged();
  input_is_bounded();
  ids_are_used_once();
  who_ended_it_is_told();
  limits_are_changed();
  a_fence_is_set_moved_and_lifted();
  what_the_fence_killed_is_told();
  the_longest_hello_fits();
  printf("%d checks, %d failures\n", checks, failures);
  return failures != 0;
}
