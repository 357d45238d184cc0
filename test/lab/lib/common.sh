# Common helpers of the lab. Sourced, never run.
# shellcheck shell=bash disable=SC2034

LAB_HOME=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
LAB_DIR=${LAB_DIR:-${TMPDIR:-/tmp}/holdfast-lab.$(id -u)}
LAB_WAIT=${LAB_WAIT:-60}           # seconds a daemon may take to answer
LAB_IMAGE=busybox:lab

say()  { printf 'lab: %s\n' "$*" >&2; }
die()  { say "$*"; exit 1; }
need() { local c; for c; do command -v "$c" >/dev/null || die "needs $c (Debian packages are listed in packages.txt)"; done; }

# One directory per configuration: socket, logs, pids, data.
cdir() { printf '%s/%s' "$LAB_DIR" "$1"; }

lab_mkdir_base() {
    # Others may pass through (an unprivileged user's socket is below), not look around.
    (umask 066; mkdir -p "$LAB_DIR") || die "cannot make $LAB_DIR"
    [ -O "$LAB_DIR" ] || die "$LAB_DIR belongs to someone else; set LAB_DIR"
}

lab_mkdir() { lab_mkdir_base; (umask 066; mkdir -p "$(cdir "$1")") || die "cannot make $(cdir "$1")"; }

# Labs in different LAB_DIRs do not share names: a checksum of it.
lab_id() { printf '%s' "$LAB_DIR" | cksum | cut -d' ' -f1; }

# A pid file holds "pid starttime", so a recycled pid is never signalled.
starttime() { sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
pid_save()  { printf '%s %s\n' "$2" "$(starttime "$2")" > "$1"; }
pid_of() {
    local p s
    read -r p s 2>/dev/null < "$1" || return 1
    [ -n "$s" ] && [ "$(starttime "$p")" = "$s" ] && printf '%s\n' "$p"
}

# stop_pid FILE SECONDS: TERM, then KILL after SECONDS.
stop_pid() {
    local p i
    p=$(pid_of "$1") || { rm -f "$1"; return 0; }
    kill -TERM "$p" 2>/dev/null
    for ((i = 0; i < $2 * 10; i++)); do
        pid_of "$1" >/dev/null || { rm -f "$1"; return 0; }
        sleep 0.1
    done
    say "pid $p ignored TERM, killing it"
    kill -KILL "$p" 2>/dev/null
    rm -f "$1"
}

# stop_podman DIR: the API service's second process (rootless Podman starts itself anew in its user namespace)
# and the conmons that wait 5 minutes after an exec; only those that name DIR on their command line.
stop_podman() {
    local p args
    for p in $(pgrep -x 'podman|conmon'); do
        args=$(tr '\0' ' ' < "/proc/$p/cmdline" 2>/dev/null) || continue
        case $args in
            *"/conmon "*" $1/"* | *"podman "*"system service "*"unix://$1/"*) kill -KILL "$p" 2>/dev/null ;;
        esac
    done
    true
}

# api SOCKET METHOD PATH [JSON]: body on stdout, HTTP status in $LAB_STATUS_FILE when set.
api() {
    local a=(-sS --max-time "${API_TIMEOUT:-120}" --unix-socket "$1" -X "$2")
    [ $# -ge 4 ] && a+=(-H 'Content-Type: application/json' -d "$4")
    [ -n "${LAB_STATUS_FILE:-}" ] && a+=(-w '%{stderr}%{http_code}\n')
    curl "${a[@]}" "http://d$3" 2>"${LAB_STATUS_FILE:-/dev/stderr}"
}

# wait_api SOCKET PIDFILE: until GET /_ping answers 200, or the process is gone.
wait_api() {
    local t=$((SECONDS + LAB_WAIT))
    while [ $SECONDS -lt $t ]; do
        [ -S "$1" ] && curl -sf --max-time 5 --unix-socket "$1" http://d/_ping >/dev/null 2>&1 && return 0
        pid_of "$2" >/dev/null || return 1
        sleep 0.1
    done
    return 1
}

# A root directory with nothing but busybox; tar of it on stdout.
image_tar() {
    local d a
    d=$(mktemp -d)
    mkdir -p "$d"/{bin,dev,etc,proc,sys,tmp,root,run,var}
    chmod 1777 "$d/tmp"
    cp "$(command -v busybox)" "$d/bin/busybox"
    for a in $("$d/bin/busybox" --list); do
        [ "$a" = busybox ] || ln -s busybox "$d/bin/$a"
    done
    printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' > "$d/etc/passwd"
    printf 'root:x:0:\nnogroup:x:65534:\n' > "$d/etc/group"
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$d" -c .
    rm -rf "$d"
}

# import_image SOCKET: through the API, so it is the same for every daemon.
import_image() {
    local out
    image_tar > "$LAB_DIR/image.$$.tar"
    out=$(curl -sS --max-time 120 --unix-socket "$1" -X POST -H 'Content-Type: application/x-tar' -H 'Expect:' \
        --data-binary @"$LAB_DIR/image.$$.tar" \
        "http://d/images/create?fromSrc=-&repo=${2:-}${LAB_IMAGE%%:*}&tag=${LAB_IMAGE#*:}" 2>&1)
    rm -f "$LAB_DIR/image.$$.tar"
    case $out in *sha256:* | *status*) ;; *) say "image import: $out"; return 1 ;; esac
}
