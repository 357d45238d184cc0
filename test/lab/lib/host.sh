# Daemons that run on this machine (cgroup v1 where the machine has it). Sourced.
# shellcheck shell=bash

docker_host_up() {
    local c=$1 d; d=$(cdir "$c")
    need dockerd containerd runc unshare curl jq busybox
    lab_mkdir "$c"
    docker_host_start "$c" || { docker_host_down "$c"; die "$c did not start"; }
    import_image "$d/docker.sock" || die "$c: no image"
    printf '%s\n' "$d/docker.sock"
}

docker_host_start() {
    local c=$1 d; d=$(cdir "$c")
    # No bridge, no packet filter, and a network namespace of its own: with --bridge=none dockerd
    # would otherwise delete the machine's docker0. A cgroup parent of its own keeps the containers apart.
    (cd "$d" && exec setsid unshare --net -- dockerd --data-root "$d/data" --exec-root "$d/exec" -p "$d/dockerd.pid" \
        -H "unix://$d/docker.sock" --bridge=none --iptables=false --ip6tables=false \
        --cgroup-parent "/holdfast-lab-$(lab_id)-$c" ${LAB_DOCKERD_ARGS:-} >>"$d/dockerd.log" 2>&1 </dev/null) &
    pid_save "$d/pid" $!
    wait_api "$d/docker.sock" "$d/pid" || { tail -5 "$d/dockerd.log" >&2; return 1; }
}

# dockerd ends by SIGNAL and is started anew on the same data. Its containerd and the containers' shims are processes of
# their own: SIGKILL leaves them.
docker_host_restart() { # CONFIG [SIGNAL]
    local c=$1 d p i; d=$(cdir "$c")
    p=$(pid_of "$d/pid") || die "$c is not up"
    kill "-${2:-TERM}" "$p"
    for ((i = 0; i < 300; i++)); do pid_of "$d/pid" >/dev/null || break; sleep 0.1; done
    rm -f "$d/docker.sock" "$d/dockerd.pid"
    docker_host_start "$c"
}

docker_host_down() {
    local c=$1 d id m; d=$(cdir "$c")
    if pid_of "$d/pid" >/dev/null && [ -S "$d/docker.sock" ]; then
        for id in $(api "$d/docker.sock" GET '/containers/json?all=1' | jq -r '.[].Id' 2>/dev/null); do
            api "$d/docker.sock" DELETE "/containers/$id?force=1" >/dev/null
        done
    fi
    stop_pid "$d/pid" 20
    for m in $(awk -v p="$d/" 'index($2, p) == 1 {print $2}' /proc/mounts | sort -r); do umount -l "$m" 2>/dev/null; done
    find /sys/fs/cgroup -depth -type d -path "*/holdfast-lab-$(lab_id)-$c*" -exec rmdir {} + 2>/dev/null
    rm -rf "$d"
}

# Settings shared by the host's Podmans: explicit ulimits, as Podman otherwise asks for more
# than a machine without CAP_SYS_RESOURCE grants.
podman_conf() {
    cat > "$1/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
netns = "none"
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "$2"
CONF
}

podman_host_up() {
    local c=$1 d rt=${LAB_RUNTIME:-runc}; d=$(cdir "$c")
    need podman conmon "$rt" curl busybox
    lab_mkdir "$c"; mkdir -p "$d/cwd"
    podman_conf "$d" "$(PATH=$PATH:/usr/sbin command -v "$rt")"
    cat > "$d/podman" <<CLI
#!/bin/sh
# podman CLI on the lab's storage; it and the API service see the same containers.
CONTAINERS_CONF=$d/containers.conf exec podman --root $d/root --runroot $d/run --tmpdir $d/libpod "\$@"
CLI
    chmod +x "$d/podman"
    (cd "$d/cwd" && exec setsid "$d/podman" system service --time=0 "unix://$d/podman.sock" >"$d/podman.log" 2>&1 </dev/null) &
    pid_save "$d/pid" $!
    wait_api "$d/podman.sock" "$d/pid" || { tail -5 "$d/podman.log" >&2; podman_host_down "$c"; die "$c did not start"; }
    image_tar | "$d/podman" import -q - "docker.io/library/$LAB_IMAGE" >/dev/null
    printf '%s\n' "$d/podman.sock"
}

podman_host_down() {
    local c=$1 d m; d=$(cdir "$c")
    [ -x "$d/podman" ] && "$d/podman" rm -afi -t 0 >/dev/null 2>&1
    stop_pid "$d/pid" 10
    stop_podman "$d"
    for m in $(awk -v p="$d/" 'index($2, p) == 1 {print $2}' /proc/mounts | sort -r); do umount -l "$m" 2>/dev/null; done
    rm -rf "$d"
}

# Rootless: an unprivileged user that exists only in a private mount namespace
# (passwd, subuid and subgid are bind-mounted there), so the machine gets no new user.
LAB_UID=61000

podman_rootless_up() {
    local c=$1 d rt=${LAB_RUNTIME:-runc}; d=$(cdir "$c")
    need podman conmon "$rt" newuidmap setpriv nsenter curl busybox
    lab_mkdir "$c"; mkdir -p "$d"/{home,xdg,etc,cwd}
    podman_conf "$d" "$(PATH=$PATH:/usr/sbin command -v "$rt")"
    { cat /etc/passwd; echo "lab:x:$LAB_UID:$LAB_UID::$d/home:/bin/sh"; } > "$d/etc/passwd"
    { cat /etc/group; echo "lab:x:$LAB_UID:"; } > "$d/etc/group"
    echo "lab:1000000:65536" | tee "$d/etc/subuid" > "$d/etc/subgid"
    chmod 644 "$d"/etc/* "$d/containers.conf"
    chown $LAB_UID:$LAB_UID "$d"/{home,xdg,cwd}; chmod 700 "$d/xdg"
    cat > "$d/enter" <<ENTER
#!/bin/sh
# In the lab's mount namespace: become the unprivileged user.
cd $d/cwd
exec env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=$d/home XDG_RUNTIME_DIR=$d/xdg CONTAINERS_CONF=$d/containers.conf \\
    setpriv --reuid $LAB_UID --regid $LAB_UID --clear-groups podman --storage-driver ${LAB_STORAGE:-overlay} "\$@"
ENTER
    cat > "$d/podman" <<CLI
#!/bin/sh
read -r pid _ < $d/pid
exec nsenter -t "\$pid" -m $d/enter "\$@"
CLI
    chmod 755 "$d/enter" "$d/podman"
    # shellcheck disable=SC2016
    setsid unshare -m --propagation private sh -c 'd=$1; shift
        for f in passwd group subuid subgid; do
            [ -e /etc/$f ] || exit 1
            mount --bind "$d/etc/$f" /etc/$f
        done
        exec "$d/enter" system service --time=0 "unix://$d/xdg/podman.sock"' sh "$d" >"$d/podman.log" 2>&1 </dev/null &
    pid_save "$d/pid" $!
    wait_api "$d/xdg/podman.sock" "$d/pid" || { tail -5 "$d/podman.log" >&2; podman_rootless_down "$c"; die "$c did not start"; }
    ln -s xdg/podman.sock "$d/podman.sock"
    image_tar | "$d/podman" import -q - "docker.io/library/$LAB_IMAGE" >/dev/null
    printf '%s\n' "$d/podman.sock"
}

podman_rootless_down() {
    local c=$1 d p; d=$(cdir "$c")
    if pid_of "$d/pid" >/dev/null; then
        "$d/podman" rm -afi -t 0 >/dev/null 2>&1
    fi
    # Podman's pause process keeps the user namespace; end it by its recorded id.
    p=$(cat "$d/xdg/libpod/tmp/pause.pid" 2>/dev/null)
    stop_pid "$d/pid" 10
    stop_podman "$d"
    [ -n "$p" ] && [ "$(stat -c %u "/proc/$p" 2>/dev/null)" = "$LAB_UID" ] && kill "$p"
    rm -rf "$d"
}
