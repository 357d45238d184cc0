# Daemons in a user-mode Linux guest (cgroup v2). Sourced.
# shellcheck shell=bash
#
# The guest and its tap device live in a network, mount and pid namespace of their own:
# nothing shows in the machine's network, and ending the namespace's first process ends the guest.
# A relay in that namespace turns a unix socket on the host into a TCP connection to the guest.

uml_up() { # CONFIG ENGINE INIT [KERNEL ARGS...]
    local c=$1 engine=$2 init=$3 d sock; shift 3; d=$(cdir "$c")
    need linux.uml socat ip unshare curl jq busybox
    lab_mkdir "$c"
    sock=$d/${engine%%-*}.sock
    # On the kernel's command line, where a space ends an argument: LAB_DIR has none, the repository may.
    cp -r "$LAB_HOME/guest" "$d/guest"
    setsid unshare --net --mount --pid --fork --kill-child --mount-proc -- \
        "$LAB_HOME/lib/uml-run" "$d" "$sock" "lab.engine=$engine" "lab.init=$init" "lab.guest=$d/guest" "$@" \
        >"$d/run.log" 2>&1 </dev/null &
    pid_save "$d/pid" $!
    wait_api "$sock" "$d/pid" || { tail -n 15 "$d/run.log" "$d/daemon.log" >&2; uml_down "$c"; die "$c did not start"; }
    case $engine in
        docker) import_image "$sock" ;;
        *) image_tar > "$d/image.tar"; uml_exec "$c" "podman-lab import -q /run/lab/shared/image.tar docker.io/library/$LAB_IMAGE" >/dev/null; rm -f "$d/image.tar" ;;
    esac || die "$c: no image"
    printf '%s\n' "$sock"
}

uml_exec() { # CONFIG COMMAND...: run in the guest, its output and exit status
    local c=$1 out rc; shift
    out=$(printf '%s\n' "$*" | socat -t 86400 - "UNIX-CONNECT:$(cdir "$c")/agent.sock") || return 125
    rc=${out##*$'\n'rc=}
    out=${out%$'\n'rc=*}
    [ -n "$out" ] && printf '%s\n' "${out%$'\n'}"
    return "${rc:-125}"
}

uml_down() {
    local c=$1 d i; d=$(cdir "$c")
    if pid_of "$d/pid" >/dev/null && [ -S "$d/agent.sock" ]; then
        printf 'sync; (sleep 0.2; echo o > /proc/sysrq-trigger) &' | timeout 5 socat -t 3 - "UNIX-CONNECT:$d/agent.sock" >/dev/null 2>&1
        for ((i = 0; i < 50; i++)); do pid_of "$d/pid" >/dev/null || break; sleep 0.1; done
    fi
    stop_pid "$d/pid" 3
    rm -rf "$d"
}

# A root directory with another Debian release's engines, for the guest to boot from instead of the host's.
# Made once with debootstrap, kept in LAB_ROOTS; complete only when its last step has renamed it.
lab_root() { # SUITE
    local r=${LAB_ROOTS:-/var/cache/holdfast-lab}/$1
    if [ ! -d "$r" ]; then
        need debootstrap linux.uml
        say "making $r (a minute, 720 MB)"
        mkdir -p "${r%/*}"; rm -rf "$r.part"
        debootstrap --variant=minbase --include="$LAB_ROOT_PACKAGES" "$1" "$r.part" "${LAB_MIRROR:-$(lab_mirror)}" >"${r%/*}/$1.log" 2>&1 \
            || { tail -5 "${r%/*}/$1.log" >&2; die "debootstrap failed"; }
        mkdir -p "$r.part/usr/lib/uml" && cp -a /usr/lib/uml/modules "$r.part/usr/lib/uml/" && mv "$r.part" "$r"
    fi
    install -m 755 "$LAB_HOME/guest/stage1" "$r/lab-stage1"
    printf '%s' "$r"
}
LAB_ROOT_PACKAGES=docker.io,podman,conmon,runc,crun,uidmap,fuse-overlayfs,kmod,iproute2,socat,busybox-static,jq,curl,util-linux,procps,systemd,dbus,dbus-user-session,libpam-systemd,passt
# The mirror that this machine's apt uses.
lab_mirror() { sed -n 's/^URIs: *//p; s/^deb  *\(\[[^]]*\] *\)\{0,1\}\(http[^ ]*\).*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -1; }
