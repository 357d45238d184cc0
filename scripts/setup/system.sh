#!/bin/sh
# usage: system.sh GROUP...
# Sees to it that programs which npm cannot bring are here: `compiler`, `docker`, `lab` (the guests of test/lab), `cross`
# (arm64), `fuzz` (clang with libFuzzer). As root on Debian or Ubuntu the missing ones are installed; elsewhere one line says what to install.
set -eu
cd "$(dirname "$0")/../.."
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

missing=
packages=
# need COMMAND PACKAGE...: COMMAND may be an absolute path.
need() {
  command=$1
  shift
  case $command in
    /*) [ -e "$command" ] && return 0 ;;
    *) command -v "$command" >/dev/null 2>&1 && return 0 ;;
  esac
  missing="$missing $command"
  packages="$packages $*"
}

docker_answers() {
  case ${DOCKER_HOST:-unix:///var/run/docker.sock} in
    unix://*) socket=${DOCKER_HOST:-unix:///var/run/docker.sock} && socket=${socket#unix://} && [ -S "$socket" ] && [ -w "$socket" ] ;;
    *) return 0 ;;
  esac
}

for group in "$@"; do
  case $group in
    compiler)
      need cc gcc libc6-dev
      # The program is linked statically: it must run in any image.
      if command -v cc >/dev/null 2>&1 && [ "$(uname -s)" = Linux ]; then
        archive=$(cc -print-file-name=libc.a)
        [ -e "$archive" ] || need "$archive" libc6-dev
      fi
      ;;
    docker)
      docker_answers || need dockerd docker.io
      need busybox busybox-static
      need curl curl ca-certificates
      need jq jq
      ;;
    lab)
      # Each line of the list: PACKAGE, then a program or file of it by which its presence is known.
      while read -r package witness; do
        case $package in '' | '#'*) continue ;; esac
        if [ -n "$witness" ]; then
          need "$witness" "$package"
        elif ! dpkg -s "$package" >/dev/null 2>&1; then
          need "/nonexistent/$package" "$package"
        fi
      done <test/lab/packages.txt
      ;;
    cross)
      need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
      need qemu-aarch64 qemu-user
      ;;
    fuzz)
      need clang clang libclang-rt-dev
      if command -v clang >/dev/null 2>&1; then
        runtime=$(clang -print-runtime-dir 2>/dev/null || true)
        major=$(clang -dumpversion | cut -d. -f1)
        ls "$runtime"/libclang_rt.fuzzer* >/dev/null 2>&1 || need "/nonexistent/libFuzzer" "libclang-rt-$major-dev"
      fi
      ;;
    *)
      echo "system.sh: unknown group $group" >&2
      exit 2
      ;;
  esac
done

[ -n "$missing" ] || exit 0
# shellcheck disable=SC2086 # a list of names
packages=$(printf '%s\n' $packages | sort -u | tr '\n' ' ')

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  mkdir -p .cache
  echo "Installing from the distribution: $packages(log: .cache/apt.log)"
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086
  { apt-get update && apt-get install -y --no-install-recommends $packages; } >.cache/apt.log 2>&1 || {
    tail -5 .cache/apt.log >&2
    echo "apt-get could not install: $packages" >&2
    exit 1
  }
  exit 0
fi
echo "Missing:$missing. Please install them (Debian, Ubuntu: sudo apt-get install $packages) and run this again." >&2
exit 1
