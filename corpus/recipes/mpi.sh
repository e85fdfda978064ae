#!/bin/bash
# Open MPI and MPICH (hydra) jobs on one host, each with one fault, and healthy ones.
# Needs: root; Debian packages openmpi-bin libopenmpi-dev mpich libmpich-dev gcc; `mpirun` led to Open MPI (update-alternatives).
# Run:   bash corpus/recipes/mpi.sh
. "$(dirname "$0")/lib.sh"
PROGRAMS="Open MPI 4.1.4 (Debian 12), gcc 12.2"
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
R="mpirun --allow-run-as-root --oversubscribe"

# job.c: eight short training steps with an allreduce each; argument 1 picks what goes wrong, on the last rank
build() {
    cat > job.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    const char *fault = argc > 1 ? argv[1] : "";
    int rank, size;
    double loss;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    setvbuf(stdout, 0, _IOLBF, 0);
    if (rank == 0) printf("world size %d, 8 steps\n", size);
    for (int step = 0; step < 8; step++) {
        double local = 1.0 / (1 + step) + rank * 0.001;
        int last = rank == size - 1;
        if (step == 3 && last && !strcmp(fault, "abort")) {
            fprintf(stderr, "rank %d: checksum of shard 17 is wrong, giving up\n", rank);
            MPI_Abort(MPI_COMM_WORLD, 42);
        }
        if (step == 3 && last && !strcmp(fault, "segfault")) *(volatile int *)0x28 = 1;
        if (step == 3 && last && !strcmp(fault, "kill")) raise(SIGKILL);
        if (step == 3 && last && !strcmp(fault, "term")) raise(SIGTERM);
        if (step == 3 && last && !strcmp(fault, "exit")) { fprintf(stderr, "rank %d: cannot read config /data/run7.json\n", rank); exit(3); }
        if (step == 3 && last && !strcmp(fault, "quiet")) exit(0);
        if (step == 3 && !strcmp(fault, "truncate") && size > 1) {
            double big[64] = {0};
            if (rank == 0) MPI_Send(big, 64, MPI_DOUBLE, size - 1, 7, MPI_COMM_WORLD);
            if (last) MPI_Recv(big, 4, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (step == 3 && last && !strcmp(fault, "badrank")) MPI_Send(&local, 1, MPI_DOUBLE, size + 5, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&local, &loss, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        printf("rank %d step %d loss %.4f\n", rank, step, loss / size);
        usleep(20000);
    }
    MPI_Finalize();
    return !strcmp(fault, "nonzero") && rank == 1 ? 9 : 0;
}
C
    mpicc."$1" -O1 -w -o job job.c
}

# Open MPI 4.1.4 now and then loses its own help text ("ORTE_ERROR_LOG: ... show_help.c"), Hydra the last words of a rank:
# where the text is the point, `until_shows PATTERN FILE COMMAND...` runs the command again until it is there, ten times at most.
until_shows() {
    local pattern=$1; shift
    for _ in 1 2 3 4 5 6 7 8 9 10; do CODES=""; capture "$@"; grep -qE "$pattern" "$D/$1" && return; done
}

# fault NAME OPTIONS FAULT FIRST ENTRY ALSO TEXT
fault() {
    incident "$1"; build openmpi
    until_shows '^(MPI_ABORT was|mpirun |Primary job|.*MPI_ERR)' job.log $R -np 4 $2 ./job "$3"
    expect fault "$4" "$5" "$6" -
    readme "$7"
}
fault mpi-abort-called "" abort mpi/abort-called mpi-abort - "The last of four ranks finds bad data and calls MPI_Abort(42)."
fault mpi-rank-segfault "--tag-output" segfault mpi/rank-killed mpi-process-signal,host-core-dump-segfault host/segmentation-fault "The last rank writes to address 0x28; Open MPI prints its stack. Lines carry the rank (--tag-output)."
fault mpi-rank-killed "--timestamp-output" kill mpi/rank-killed mpi-process-signal - "The last rank dies of SIGKILL, as an out-of-memory kill looks to mpirun. Lines carry times (--timestamp-output)."
fault mpi-rank-exit-before-finalize "--tag-output --timestamp-output" exit mpi/left-without-finalize mpi-exit-without-finalize,mpi-nonzero-exit mpi/rank-exit-code "The last rank ends with exit(3) between MPI_Init and MPI_Finalize. Lines carry rank and time."
fault mpi-rank-quits-silently "" quiet mpi/left-without-finalize mpi-exit-without-finalize - "The last rank ends with exit(0) and without MPI_Finalize."
fault mpi-nonzero-exit "--tag-output" nonzero mpi/rank-exit-code mpi-nonzero-exit - "All ranks finish; rank 1 returns 9."
fault mpi-message-truncated "" truncate mpi/call-failed mpi-errors-are-fatal mpi/call-failed "A receive buffer of 4 numbers meets a message of 64."
fault mpi-invalid-rank "--tag-output" badrank mpi/call-failed mpi-errors-are-fatal - "A send goes to a rank outside the communicator."

incident mpi-not-enough-slots; build openmpi
printf 'gpu-node-17 slots=2\n' > hostfile
capture stderr.log mpirun --allow-run-as-root --hostfile hostfile -np 16 ./job
expect fault mpi/not-enough-slots mpi-not-enough-slots - -
readme "Sixteen processes are asked for, the hostfile has two slots."

incident mpi-executable-missing; build openmpi
capture stderr.log $R -np 2 /opt/train/bin/train_gpt --config run7.json
expect fault mpi/executable-not-found mpi-executable-not-found - loader/shared-library-missing
readme "The program named on the command line does not exist."

incident mpi-run-as-root-refused; build openmpi
capture stderr.log mpirun --oversubscribe -np 2 ./job
expect fault mpi/run-as-root-refused mpi-run-as-root - -
readme "mpirun is started by root without --allow-run-as-root."

incident mpi-worker-hostname-unresolvable; build openmpi
capture stderr.log $R --host gpu-node-17:2,train-job-worker-1.train-job-worker.invalid:2 -np 4 ./job
expect fault network/ssh-unreachable mpi-unresolvable-worker-hostname,mpi-daemon-failed-before-callback,host-dns-failure network/name-not-resolved,mpi/daemons-not-started -
readme "The second host's name has no address (a name under .invalid); ssh says so, then mpirun tells that its daemon did not start."

incident mpi-worker-ssh-refused; build openmpi
capture stderr.log $R --mca plm_rsh_args "-p 2222 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null" --host gpu-node-17:2,gpu-node-18:2 -np 4 ./job
expect fault network/ssh-unreachable mpi-ssh-host-key,mpi-daemon-failed-before-callback mpi/daemons-not-started,network/connection-failed -
readme "No ssh server listens on the second host (loopback, port 2222)."

# The remote side is a shell on this host: plm_rsh_agent runs its last arguments as sshd would.
agent() { printf '#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\nhost=$1; shift\n%s\n' "$1" > agent.sh; chmod +x agent.sh; }
incident mpi-orted-not-found; build openmpi
agent 'PATH=/usr/local/bin exec -a bash /bin/bash -c "$*"'
capture stderr.log $R --mca plm_rsh_agent /opt/train/agent.sh --host gpu-node-17:2,gpu-node-18:2 -np 4 ./job
expect fault loader/daemon-library-missing orted-library-missing-on-remote,mpi-daemon-failed-before-callback mpi/daemons-not-started -
readme "Open MPI is not on the PATH of the second host's non-interactive shell (the remote shell is a script that runs bash with a bare PATH)."

incident mpi-orted-library-missing; build openmpi
mkdir -p node/{bin,lib64,lib/x86_64-linux-gnu,usr/bin}
cp /bin/bash node/bin/; ln -s bash node/bin/sh; cp /usr/bin/orted node/usr/bin/orted; cp /lib64/ld-linux-x86-64.so.2 node/lib64/
cp /lib/x86_64-linux-gnu/{libc.so.6,libtinfo.so.6} node/lib/x86_64-linux-gnu/
agent 'exec chroot /opt/train/node /bin/bash -c "$*"'
capture stderr.log $R --mca plm_rsh_agent /opt/train/agent.sh --host gpu-node-17:2,gpu-node-18:2 -np 4 ./job
expect fault loader/daemon-library-missing orted-library-missing-on-remote,shared-library-not-found,mpi-daemon-failed-before-callback loader/shared-library-missing,mpi/daemons-not-started -
readme "orted starts on the second host and lacks libopen-rte.so.40 (the second host is a root directory with orted and without Open MPI's libraries)."

incident mpi-binding-overload; build openmpi
capture stderr.log mpirun --allow-run-as-root --host gpu-node-17:16 --bind-to core --map-by slot -np 8 ./job
expect fault mpi/binding-impossible mpi-binding-overload - -
readme "More processes than cores, with binding to cores asked for."

incident mpi-session-dir-no-space; build openmpi
mkdir tmp; mount -t tmpfs -o size=4k,nr_inodes=2 tmpfs tmp
capture stderr.log env TMPDIR=/opt/train/tmp $R -np 2 ./job
umount tmp
expect fault mpi/session-folder-failed mpi-session-dir,host-no-space-left storage/no-space-left -
readme "TMPDIR lies on a file system without a free inode: Open MPI cannot make its session directory."

incident mpi-exit-in-entrypoint-log; build openmpi
cat > run.sh <<SH
echo "[entrypoint] \$(date -u +%FT%TZ) world=4 host=\$(hostname)"
$R --tag-output --report-bindings --display-map -np 4 ./job exit
rc=\$?
echo "[entrypoint] \$(date -u +%FT%TZ) mpirun exited with \$rc" >&2
exit \$rc
SH
capture job.log bash run.sh
expect fault mpi/left-without-finalize mpi-exit-without-finalize,mpi-nonzero-exit mpi/rank-exit-code -
readme "As mpi-rank-exit-before-finalize, with mpirun's map and bindings, inside an entry point that echoes the exit code."

# --output-filename writes one folder per rank: a log with several sources
incident mpi-rank-log-tree; build openmpi
capture mpirun.log $R --output-filename out -np 4 ./job abort
cp -r out "$D/"; find "$D/out" -type f | xargs sed -i 's#/root/\.pyenv/versions/[0-9.]*#/usr/local#g'
expect fault mpi/abort-called mpi-abort - -
readme "MPI_Abort of rank 3, with --output-filename: a folder per rank with stdout and stderr, and mpirun's own output."

# ---- transports, limits, daemons -----------------------------------------------------------------------------------
incident mpi-no-transport-between-ranks; build openmpi
until_shows 'unable to reach each other' job.log $R --mca orte_base_help_aggregate 0 --mca btl self -np 2 ./job
expect fault mpi/processes-unreachable mpi-unreachable-processes mpi/init-failed -
readme "Only the loop-back transport (btl self) is allowed, so two ranks cannot reach each other."

incident mpi-component-missing; build openmpi
until_shows 'A requested component was not found|unable to reach each other' job.log $R --mca orte_base_help_aggregate 0 --mca btl openib,self -np 2 ./job
expect fault mpi/processes-unreachable mpi-unreachable-processes mpi/component-not-found,mpi/init-failed -
readme "A transport is asked for by name that this build of Open MPI has not (btl openib)."

incident mpi-ofi-efa-provider-missing; build openmpi
until_shows 'No components were able' job.log $R --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include efa --mca mtl_base_verbose 10 -np 2 ./job
expect fault mpi/ofi-provider-missing mpi-ofi-call-failed,mpi-unreachable-processes mpi/component-not-found,mpi/init-failed,efa/provider-missing -
readme "Open MPI is told to use libfabric's efa provider on a host without an EFA device."

incident mpi-interface-missing; build openmpi
until_shows 'Unknown interface name' job.log $R --mca btl tcp,self --mca btl_tcp_if_include eth7 -np 2 ./job
expect fault mpi/interface-not-found mpi-tcp-connect-failures,mpi-unreachable-processes mpi/processes-unreachable,mpi/init-failed -
readme "btl_tcp_if_include names an interface that the host has not."

incident mpi-open-files-limit; build openmpi
capture stderr.log bash -c "ulimit -n 40; exec $R -np 16 ./job"
expect fault mpi/system-limit-exceeded mpi-system-limits,host-too-many-open-files,host-core-dump-segfault host/too-many-open-files,mpi/rank-killed,host/segmentation-fault -
readme "Sixteen ranks under a limit of 40 open files."

incident mpi-tcp-peer-killed; build openmpi
capture job.log $R --mca btl tcp,self --tag-output -np 4 ./job kill
expect fault mpi/rank-killed mpi-process-signal,mpi-peer-hung-up mpi/peer-disconnected,mpi/rank-exit-code -
readme "A rank dies of SIGKILL while the ranks talk over TCP."

incident mpi-daemon-lost; build openmpi
agent 'PATH=/usr/bin:/bin exec unshare --uts sh -c "hostname gpu-node-18; exec $*"'
(sleep 1.5; for p in $(pgrep -x orted); do kill -KILL $p; done) &
sed -i 's/step < 8/step < 200/' job.c && mpicc.openmpi -O1 -w -o job job.c
capture job.log $R --mca plm_rsh_agent /opt/train/agent.sh --host gpu-node-17:2,gpu-node-18:2 --mca btl tcp,self -np 4 ./job
head -c 12000 "$D/job.log" > t; tail -n 25 "$D/job.log" > u; [ "$(wc -c < "$D/job.log")" -gt 16000 ] && cat t u > "$D/job.log"
wait $!
expect fault mpi/daemon-lost mpi-lost-daemon mpi/peer-disconnected,mpi/rank-killed -
readme "The daemon (orted) on the second host is killed while the job runs. Of a long log the middle was cut out."

incident mpi-different-user-namespaces; build openmpi
until_shows 'different user namespaces' job.log $R --mca orte_base_help_aggregate 0 -np 2 unshare --user --map-root-user ./job
expect fault mpi/shared-memory-copy-refused mpi-vader-cma-namespace - mpi/abort-called
readme "Each rank runs in a user namespace of its own (as in rootless containers): the shared-memory transport says that it copies twice, and all goes well."

healthy() {
    incident "$1"; build openmpi
    capture job.log $R $2 -np 4 ./job
    expect clean - - - mpi/abort-called,mpi/rank-killed,mpi/rank-exit-code
    readme "$3"
}
healthy healthy-mpi-tag-output "--tag-output" "Four ranks, eight steps, lines tagged with the rank."
healthy healthy-mpi-timestamps "--tag-output --timestamp-output --report-bindings" "The same with times and the report of bindings."
healthy healthy-mpi-plain "--mca btl_base_verbose 20 --display-allocation" "The same with verbose transport lines and the allocation."

PROGRAMS="MPICH 4.0.2 with Hydra (Debian 12), gcc 12.2"
hydra() {
    incident "$1"; build mpich
    until_shows '^(\[.\] )?(Abort|=   BAD TERM|rank 3 step 7)' job.log mpiexec.hydra -launcher fork $2 -n 4 ./job "$3"
    if [ -z "$4" ]; then expect clean - - - mpi/abort,mpi/process-signal,mpi/nonzero-exit; else expect fault "$4" "$5" "$6" -; fi
    readme "$7"
}
hydra mpich-rank-segfault "-prepend-rank" segfault mpi/bad-termination mpi-process-signal - "The last rank writes to address 0x28 under MPICH; Hydra prints BAD TERMINATION. Lines carry the rank (-prepend-rank)."
hydra mpich-rank-killed "" kill mpi/bad-termination mpi-process-signal - "The last rank dies of SIGKILL under Hydra."
hydra mpich-abort-called "-prepend-rank" abort mpi/abort-called mpi-abort - "MPI_Abort(42) under MPICH."
hydra mpich-message-truncated "" truncate mpi/call-failed mpi-errors-are-fatal mpi/call-failed "A receive buffer too small, MPICH's error stack."
hydra healthy-mpich-prepend-rank "-prepend-rank" "" "" "" "" "Four healthy ranks under Hydra."
