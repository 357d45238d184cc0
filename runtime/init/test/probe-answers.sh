#!/bin/sh
# Speaks with a probe (the command given) without Node: hello, then an answer to a request for /proc/version.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# READ_FILES with REQUEST 1 and PATH /proc/version
{
  printf 'H\020\0\0\0\0\0\0\0\0\0\037\007\0\0\0\010\0\0\0\0\0\0\0\001\010\0\0\0\015/proc/version'
  sleep 1
} | "$@" probe --sandboxes "$dir/s" >"$dir/out"
grep -q 'Linux version' "$dir/out"
echo "probe answers"
