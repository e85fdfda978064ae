#!/bin/sh
# Gathers what `troubleshoot` asks for about one machine, pod or container of a distributed training job.
#
#   sh collect.sh > collect.txt            everything, about a minute at most
#   sh collect.sh loader efa > collect.txt only these parts (names: sh collect.sh --list)
#
# It reads and prints; it changes nothing, installs nothing, needs no tool to be there, and sends nothing anywhere.
# Values of environment variables that look like secrets are left out. Read the text before you send it.

LC_ALL=C
export LC_ALL
PATH=${PATH:-/usr/bin:/bin}:/usr/sbin:/sbin:/opt/amazon/efa/bin:/opt/amazon/openmpi/bin
LIMIT=${COLLECT_SECONDS:-10} # seconds that one command may take
LINES=${COLLECT_LINES:-400}  # lines kept of one command's output
WANTED=" $* "

have() { command -v "$1" >/dev/null 2>&1; }

wanted() {
    case "$WANTED" in
        "  ") return 0 ;;
        *" $1 "*) return 0 ;;
        *) return 1 ;;
    esac
}

# bounded COMMAND...: run it, no longer than LIMIT seconds, and show how it ended if it did not end well.
bounded() {
    if have timeout; then
        timeout "$LIMIT" "$@" </dev/null 2>&1
    else
        "$@" </dev/null 2>&1 &
        child=$!
        (
            sleep "$LIMIT"
            kill "$child"
        ) >/dev/null 2>&1 &
        watch=$!
        wait "$child" 2>/dev/null
        status=$?
        kill "$watch" 2>/dev/null
        wait "$watch" 2>/dev/null
        return "$status"
    fi
}

# show COMMAND...: its name as a prompt, then its output, cut at LINES.
show() {
    if ! have "$1"; then
        printf '$ %s\n(not installed: %s)\n' "$*" "$1"
        return 0
    fi
    printf '$ %s\n' "$*"
    {
        bounded "$@"
        status=$?
        [ "$status" -eq 0 ] || printf '(exit status %s)\n' "$status"
    } | sed -n "1,${LINES}p"
}

# text FILE: its content, cut at LINES; nothing if it is not there.
text() {
    if [ -r "$1" ]; then
        printf '$ cat %s\n' "$1"
        sed -n "1,${LINES}p" "$1" 2>/dev/null
    fi
}

# first_of PATTERN...: the paths that exist.
first_of() {
    for path in "$@"; do
        [ -e "$path" ] && printf '%s\n' "$path"
    done
    return 0
}

part() {
    wanted "$1" || return 1
    printf '\n===== troubleshoot collect: %s (%s) =====\n' "$1" "$2"
}

case " $* " in
    *" --list "*)
        echo "host loader env efa nccl gpu limits mounts network kernel slurm kubernetes sagemaker" | tr ' ' '\n'
        exit 0
        ;;
    *" --help "* | *" -h "*)
        echo "sh collect.sh [PART...] > collect.txt    gathers evidence about this machine; --list names the parts"
        exit 0
        ;;
esac

printf '===== troubleshoot collect 1: %s =====\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"

part host "name, kernel, clock" && {
    show uname -a
    show hostname
    show uptime
    text /etc/os-release
    show date -u +%Y-%m-%dT%H:%M:%SZ
}

part loader "C library, loader, mpirun" && {
    show ldd --version
    for libc in /lib/x86_64-linux-gnu/libc.so.6 /lib/aarch64-linux-gnu/libc.so.6 /lib64/libc.so.6 /usr/lib64/libc.so.6; do
        if [ -x "$libc" ]; then
            printf '$ %s\n' "$libc"
            bounded "$libc" | sed -n 1,3p
            break
        fi
    done
    printf '$ command -v mpirun python python3 torchrun nvcc fi_info\n'
    for tool in mpirun python python3 torchrun nvcc fi_info; do command -v "$tool" 2>/dev/null; done
    show mpirun --version
    printf 'LD_LIBRARY_PATH=%s\n' "${LD_LIBRARY_PATH:-}"
    printf 'LD_PRELOAD=%s\n' "${LD_PRELOAD:-}"
    printf 'OPAL_PREFIX=%s\n' "${OPAL_PREFIX:-}"
}

part env "environment, secrets left out" && {
    printf '$ env\n'
    env 2>/dev/null | sed -n "1,${LINES}p" | sed -E \
        -e 's/^([A-Za-z0-9_]*(SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE|CREDENTIAL|COOKIE|AUTH|SESSION)[A-Za-z0-9_]*)=.*/\1=[left out]/' \
        -e 's#(://[^:/@ ]*:)[^@/ ]*@#\1[left out]@#g' \
        -e 's/(AKIA|ASIA)[A-Z0-9]{16}/[left out]/g' \
        -e 's/(hf_|ghp_|gho_|glpat-|xox[abprs]-|sk-)[A-Za-z0-9_-]{16,}/[left out]/g' | sort
}

part efa "EFA devices and libfabric" && {
    show fi_info -p efa
    printf '$ ls -l /dev/infiniband\n'
    ls -l /dev/infiniband 2>&1
    printf '$ ls /sys/class/infiniband\n'
    ls /sys/class/infiniband 2>&1
    text /opt/amazon/efa_installed_packages
    printf '$ ls -d /opt/amazon* /opt/aws-ofi-nccl\n'
    first_of /opt/amazon/efa /opt/amazon/openmpi /opt/amazon/ofi-nccl /opt/amazon/aws-ofi-nccl /opt/aws-ofi-nccl /opt/amazon-efa-ofi
    text /proc/sys/kernel/yama/ptrace_scope
}

part nccl "NCCL and its plugins on the path" && {
    printf '$ ldconfig -p | grep nccl\n'
    if have ldconfig; then bounded ldconfig -p | grep -E 'nccl|fabric|cudart|libcuda' | sed -n 1,40p; fi
    printf '$ find libnccl on LD_LIBRARY_PATH and usual folders\n'
    echo "${LD_LIBRARY_PATH:-}:/opt/amazon/ofi-nccl/lib:/opt/amazon/efa/lib:/usr/lib/x86_64-linux-gnu:/usr/local/lib" |
        tr ':' '\n' | sort -u | while read -r folder; do
        [ -d "$folder" ] && ls "$folder"/libnccl* "$folder"/libfabric* 2>/dev/null
    done | sed -n 1,40p
    text /etc/nccl.conf
    # what PyTorch brings; silent where it is not installed
    have python3 && bounded python3 -c '
import importlib.util
if importlib.util.find_spec("torch"):
    import torch
    print("torch", torch.__version__, "cuda", torch.version.cuda)
    print(">>> torch.cuda.nccl.version()")
    print(torch.cuda.nccl.version())
' | sed -n 1,5p
    have python3 && show python3 -m pip list --disable-pip-version-check
}

part gpu "GPUs and driver" && {
    show nvidia-smi
    show nvidia-smi -q -d ECC,ROW_REMAPPER,PERFORMANCE
    show nvidia-smi topo -m
    text /proc/driver/nvidia/version
    printf '$ ls -l /dev/nvidia*\n'
    # shellcheck disable=SC2012 # a listing for people, not for parsing
    ls -l /dev/nvidia* 2>&1 | sed -n 1,40p
}

part limits "limits and memory" && {
    printf '$ ulimit -a\n'
    # shellcheck disable=SC3045 # not in POSIX, and in every shell that is met: dash, busybox, bash
    ulimit -a 2>&1
    show df -h /dev/shm /tmp /
    show df -i /tmp /
    printf '$ cat /proc/meminfo\n'
    grep -E 'MemTotal|MemAvailable|Huge|Shmem:|Swap' /proc/meminfo 2>/dev/null
    for file in memory.max memory.current memory.events pids.max pids.current hugetlb.2MB.max hugetlb.2MB.current; do
        text "/sys/fs/cgroup/$file"
    done
    text /proc/sys/vm/overcommit_memory
    text /proc/sys/vm/max_map_count
}

part mounts "mounted file systems" && {
    show mount
}

part network "interfaces and names" && {
    show ip -br addr
    text /etc/hosts
    text /etc/resolv.conf
    [ -n "${MASTER_ADDR:-}" ] && show getent hosts "$MASTER_ADDR"
}

part kernel "recent kernel lines on GPUs, memory, disks" && {
    printf '$ dmesg | grep ...\n'
    if have dmesg; then
        bounded dmesg -T 2>/dev/null | grep -E 'NVRM|Xid|SXid|nvidia|oom-kill|Out of memory|Killed process|segfault|I/O error|EXT4-fs error|Lustre|efa |mlx5' | tail -n 100
        bounded dmesg 2>&1 >/dev/null | sed -n 1,2p
    fi
}

part slurm "Slurm's view of the job" && {
    [ -n "${SLURM_JOB_ID:-}" ] && show scontrol show job "$SLURM_JOB_ID"
    [ -n "${SLURM_JOB_ID:-}" ] && show sacct -j "$SLURM_JOB_ID" -o JobID,State,ExitCode,Elapsed,Timelimit,MaxRSS,ReqMem,NodeList -P
    show sinfo -R
}

part kubernetes "pod and node, as the container sees them" && {
    printf 'namespace: %s\n' "$(cat /var/run/secrets/kubernetes.io/serviceaccount/namespace 2>/dev/null)"
    text /etc/podinfo/labels
    text /etc/podinfo/annotations
}

part sagemaker "SageMaker's job configuration" && {
    text /opt/ml/input/config/resourceconfig.json
    text /opt/ml/output/failure
}

printf '\n===== troubleshoot collect: end =====\n'
exit 0
