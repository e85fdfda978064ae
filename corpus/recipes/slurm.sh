#!/bin/bash
# A two-node Slurm cluster on one host (munged, slurmctld and two slurmd started by hand, no systemd), jobs with one fault each.
# Needs: root; Debian packages slurm-wlm munge openmpi-bin libopenmpi-dev; memory cgroup (v1 hierarchy at /sys/fs/cgroup/memory); the venv of lib.sh.
# Run:   bash corpus/recipes/slurm.sh       (about four minutes, most of it waiting for time limits)
. "$(dirname "$0")/lib.sh"
need_venv
PROGRAMS="Slurm 22.05.8 (Debian 12), munge 0.5.15; torch 2.13.0+cpu where Python runs"
S=/opt/slurm
export SLURM_CONF=$S/etc/slurm.conf
mkdir -p $S/{etc,log,state,run}
mount -t tmpfs tmpfs /run/munge && chown munge:munge /run/munge && chmod 755 /run/munge
runuser -u munge -- /usr/sbin/munged 2> /dev/null

# cluster ACCOUNTING TASKPLUGIN: writes the configuration and starts the daemons
cluster() {
    cat > $S/etc/slurm.conf <<C
ClusterName=train
SlurmctldHost=gpu-node-17
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=$S/state
SlurmdSpoolDir=$S/spool.%n
SlurmctldPidFile=$S/run/slurmctld.pid
SlurmdPidFile=$S/run/slurmd.%n.pid
SlurmctldLogFile=$S/log/slurmctld.log
SlurmdLogFile=$S/log/slurmd.%n.log
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=$2
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
$1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SlurmdTimeout=12
KillWait=3
BatchStartTimeout=5
OverTimeLimit=0
EnforcePartLimits=ANY
ReturnToService=2
$(cat $S/etc/extra 2>/dev/null)
NodeName=gpu-node-17 NodeAddr=127.0.0.17 Port=17017 CPUs=8 RealMemory=16000
NodeName=gpu-node-18 NodeAddr=127.0.0.18 Port=17018 CPUs=8 RealMemory=16000
PartitionName=gpu Nodes=ALL Default=YES MaxTime=02:00:00 State=UP
C
    printf 'CgroupAutomount=no\nCgroupMountpoint=/sys/fs/cgroup\nCgroupPlugin=cgroup/v1\nConstrainRAMSpace=yes\nConstrainCores=no\n' > $S/etc/cgroup.conf
    mkdir -p $S/spool.gpu-node-17 $S/spool.gpu-node-18
    cd $S    # the daemons outlive /opt/train, which every incident makes anew
    slurmctld -D > /dev/null 2>&1 & CTLD=$!
    sleep 2
    slurmd -D -N gpu-node-17 > /dev/null 2>&1 & D17=$!
    node18
    for _ in 1 2 3 4 5 6 7 8 9 10; do sinfo -h -o %T | grep -qx idle && [ "$(sinfo -h -N -t idle | wc -l)" = 2 ] && break; sleep 1; done
}
node18() { unshare --uts sh -c "hostname gpu-node-18; exec slurmd -D -N gpu-node-18" > /dev/null 2>&1 & D18=$!; }
stop() {
    kill $D17 $D18 2>/dev/null; sleep 1
    kill $CTLD; wait $CTLD 2>/dev/null; sleep 1
}
finish() { stop; kill "$(cat /run/munge/munged.pid)"; find /sys/fs/cgroup/*/slurm_gpu-node-1* -depth -type d -exec rmdir {} + 2>/dev/null; }
trap finish EXIT

# mark; ...; pieces: what the daemons logged in between
mark() { for f in slurmctld slurmd.gpu-node-17 slurmd.gpu-node-18; do wc -l < $S/log/$f.log > $S/mark.$f 2>/dev/null; done; }
pieces() { sleep 1; for f in "$@"; do tail -n +$(($(cat $S/mark.$f) + 1)) $S/log/$f.log | grep -v 'auth_p_get_host: Lookup failed for 0.0.0.0' > "$D/$f.log"; done; }
# batch OPTIONS...: runs the script job.sh and keeps its slurm-<id>.out
batch() { timeout -k 3 100 sbatch -W -o slurm-%j.out "$@" job.sh > sbatch.txt 2>&1 < /dev/null; CODES=" sbatch --wait: exit code $?;"; cp slurm-*.out "$D"/ 2>/dev/null; clean "$D"/slurm-*.out 2>/dev/null; }
job() { { echo '#!/bin/bash'; cat; } > job.sh; }

cluster "" task/cgroup

# ---- refused at submission -------------------------------------------------------------------------------------------
submit() {  # NAME TEXT FIRST COMMAND...
    local name=$1 text=$2 first=$3; shift 3
    incident "$name"; job <<< 'srun hostname'
    LIMIT=20 capture submit.log "$@"
    expect fault "$first" slurm-submit-rejections - -
    readme "$text"
}
submit slurm-invalid-partition "The partition does not exist." slurm/submission-refused sbatch -p h100 job.sh
submit slurm-too-many-nodes "More nodes are asked for than the partition has." slurm/submission-refused sbatch -N 64 --ntasks-per-node=8 job.sh
submit slurm-too-many-cpus-per-node "More CPUs per node are asked for than any node has." slurm/submission-refused srun -N 1 --ntasks-per-node=1 --cpus-per-task=192 hostname
submit slurm-invalid-gres "GPUs are asked for on a cluster whose configuration knows none." slurm/submission-refused sbatch --gres=gpu:h100:8 job.sh
submit slurm-memory-unavailable "More memory per node is asked for than any node has." slurm/submission-refused srun --mem=2000G hostname
submit slurm-time-limit-too-long "The time asked for exceeds the partition's limit." slurm/submission-refused srun -t 48:00:00 --immediate=2 hostname
submit slurm-container-option-unknown "--container-image is given, and the pyxis plugin is not installed." slurm/pyxis-missing srun --container-image=/images/pytorch.sqsh nvidia-smi
submit slurm-mpi-plugin-missing "srun is asked for an MPI plugin that is not installed." slurm/mpi-plugin-missing srun --mpi=pmix_v5 hostname

incident slurm-script-dos-line-ends
printf '#!/bin/bash\r\nsrun hostname\r\n' > job.sh
LIMIT=20 capture submit.log sbatch job.sh
expect fault slurm/submission-refused slurm-submit-rejections - -
readme "The batch script was written on Windows."

incident slurm-script-no-shebang
printf 'srun hostname\n' > job.sh
LIMIT=20 capture submit.log sbatch job.sh
expect fault slurm/submission-refused slurm-submit-rejections - -
readme "The batch script has no first line that names an interpreter."

# ---- failing tasks ---------------------------------------------------------------------------------------------------
cat > $S/step.sh <<'SH'
#!/bin/bash
echo "task $SLURM_PROCID on $(hostname): loading shard $SLURM_PROCID"
sleep 1
case "$1:$SLURM_PROCID" in
    exit:2) echo "ValueError: shard 2 has 0 samples" >&2; exit 1 ;;
    segv:3) kill -SEGV $$ ;;
    kill:1) kill -KILL $$ ;;
    abort:0) kill -ABRT $$ ;;
esac
for i in 1 2 3; do echo "task $SLURM_PROCID step $i ok"; sleep 0.5; done
[ "$1" = none ] || sleep 20
echo "task $SLURM_PROCID done"
SH
chmod +x $S/step.sh
failing() {  # NAME FAULT TEXT
    incident "$1"; job <<< "srun --label --kill-on-bad-exit=1 -n 4 -N 2 $S/step.sh $2"
    batch -N 2 -n 4
    expect fault "$4" slurm-step-task-failure-cancel "$5" -
    readme "$3"
}
failing slurm-task-exit-code exit "Task 2 of four ends with exit code 1; --kill-on-bad-exit ends the rest. Lines carry the task number (srun --label)." slurm/task-failed slurm/cancelled,python/value-error
failing slurm-task-segfault segv "Task 3 of four dies of SIGSEGV, the rest is ended." slurm/task-failed slurm/cancelled
failing slurm-task-killed kill "Task 1 of four dies of SIGKILL, the rest is ended." slurm/task-failed slurm/cancelled
failing slurm-task-aborted abort "Task 0 of four dies of SIGABRT, the rest is ended." slurm/task-failed slurm/cancelled

incident slurm-executable-missing
job <<< 'srun --label -n 2 -N 2 /opt/train/bin/train_gpt --config run7.json'
batch -N 2 -n 2
expect fault slurm/executable-not-found py-file-not-found-script,slurm-step-task-failure-cancel slurm/task-failed -
readme "The program that srun should start does not exist on the nodes."

incident slurm-workdir-missing
job <<< 'srun --label -n 2 -N 2 pwd; ls checkpoints'
batch -N 2 -n 2 -D /scratch/run7
[ -f "$D"/slurm-*.out ] || { mark; sbatch -W -D /scratch/run7 -o "$D/slurm-%j.out" -N 2 job.sh > /dev/null 2>&1; }
expect fault slurm/working-folder-missing - - -
readme "The working directory does not exist on the nodes: slurmstepd goes to /tmp, where the job does not find its files."

incident slurm-output-folder-missing; mark
job <<< 'srun hostname'
sbatch -W -o /scratch/logs/slurm-%j.out job.sh > "$D/sbatch.log" 2>&1
pieces slurmctld slurmd.gpu-node-17
expect fault slurm/output-not-writable - - -
readme "The folder of --output does not exist: the job fails within a second and leaves no output, only the daemons' logs tell."

incident slurm-oom-kill; mark
cat > eat.py <<'PY'
import time
print("loading checkpoint shards", flush=True)
shards = []
for i in range(64):
    shards.append(bytearray(16 << 20))
    print(f"shard {i} loaded, {16 * (i + 1)} MiB", flush=True)
    time.sleep(0.02)
PY
job <<< 'echo "node $(hostname)"; srun --label -n 1 python3 eat.py'
batch -n 1 --mem=200M
pieces slurmd.gpu-node-17
expect fault slurm/out-of-memory slurm-oom-kill host/oom-killed,slurm/task-failed -
readme "The step loads more than the 200 MB it asked for and the memory cgroup's out-of-memory killer ends it."

incident slurm-cancelled-by-user
job <<< "srun --label -n 4 -N 2 $S/step.sh sleep"
(sleep 5; scancel -n cancelme) &
batch -N 2 -n 4 -J cancelme
wait $!
expect fault slurm/cancelled slurm-cancelled-preemption slurm/task-failed slurm/time-limit
readme "The user cancels the job while it runs."

incident slurm-requeued
job <<< "echo \"restart count \${SLURM_RESTART_COUNT:-0}\"; srun --label -n 2 -N 2 $S/step.sh sleep"
sbatch -o slurm-%j.out --open-mode=append -N 2 -J requeueme job.sh > /dev/null
sleep 5; scontrol requeue "$(squeue -h -n requeueme -o %i)"; sleep 3
cp slurm-*.out "$D"/; scancel -n requeueme; sleep 4
expect fault slurm/preempted slurm-cancelled-preemption slurm/task-failed slurm/time-limit
readme "An operator requeues the running job, as preemption with PreemptMode=REQUEUE does."

incident slurm-time-limit; mark
cat > train.sh <<'SH'
for step in $(seq 1 400); do echo "step $step loss 0.$((9000 - step * 7))"; sleep 2; done
SH
job <<< 'echo "starting on $(hostname)"; srun --label -n 2 -N 2 bash train.sh'
batch -N 2 -n 2 -t 1
pieces slurmctld
expect fault slurm/time-limit slurm-cancelled-time-limit slurm/cancelled,slurm/task-failed -
readme "The job runs into its time limit of one minute. With the controller's log of the same time."

incident slurm-step-creation-busy
cat > inner.sh <<SH
srun -n 1 --label sleep 6 &
sleep 1
timeout -s INT 12 srun -n 1 --label hostname
wait
SH
job <<< 'bash inner.sh'
batch -n 1 --mem=500M
expect fault slurm/step-busy slurm-step-creation-busy - -
readme "A second srun inside the job waits for the first one's CPUs and memory (no --overlap)."

# ---- a real training job under srun --------------------------------------------------------------------------------
incident slurm-ddp-rank-exception
cat > train.py <<'PY'
import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

os.environ.setdefault("RANK", os.environ["SLURM_PROCID"])
os.environ.setdefault("WORLD_SIZE", os.environ["SLURM_NTASKS"])
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DDP(torch.nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(50):
    x = torch.randn(16, 32)
    if rank == 2 and step == 5:
        x = torch.load(f"/data/shards/shard-{rank}-{step}.pt")
    loss = model(x).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    print(f"rank {rank} step {step} loss {loss.item():.4f}", flush=True)
PY
job <<< 'export MASTER_ADDR=gpu-node-17 MASTER_PORT=29517 OMP_NUM_THREADS=1
srun --label --kill-on-bad-exit=1 -N 2 -n 4 python train.py'
batch -N 2 -n 4
expect fault python/file-not-found py-file-not-found-script,slurm-step-task-failure-cancel,gloo-connectfullmesh slurm/task-failed,slurm/cancelled,torch/gloo-peer-closed nccl
readme "Rank 2 of a DDP job under srun does not find a shard; the other ranks lose their connection to it and Slurm ends the step."

incident slurm-mpi-program-without-pmi
cat > job.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) { int r; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &r); printf("rank %d\n", r); MPI_Finalize(); return 0; }
C
mpicc.openmpi -o mpi_job job.c
job <<< 'srun --label -n 2 ./mpi_job'
batch -N 1 -n 2
expect fault mpi/no-pmi-for-srun mpi-pmix-incompatible-with-slurm,slurm-mpi-plugin mpi/init-failed,slurm/task-failed -
readme "An Open MPI program is started by srun with --mpi=none, so it finds no PMI to join."

incident slurm-mpirun-nonzero-exit
cat > job.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) { int r; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &r); printf("rank %d\n", r); MPI_Finalize(); return r == 3 ? 7 : 0; }
C
mpicc.openmpi -o mpi_job job.c
job <<< 'mpirun --allow-run-as-root --tag-output -np 4 ./mpi_job'
batch -N 2 -n 4
expect fault mpi/rank-exit-code mpi-nonzero-exit - -
readme "mpirun inside a Slurm allocation of two nodes; rank 3 ends with exit code 7."

# ---- healthy ---------------------------------------------------------------------------------------------------------
incident healthy-slurm-labelled
job <<< "echo \"job \$SLURM_JOB_ID on \$SLURM_JOB_NODELIST\"; srun --label -n 4 -N 2 $S/step.sh none; echo done"
batch -N 2 -n 4
expect clean - - - slurm/task-failed,slurm/cancelled,slurm/node-failed
readme "Four tasks on two nodes, srun --label, all well."

incident healthy-slurm-daemon-logs; mark
job <<< 'srun -N 2 hostname'
batch -N 2 -n 2
pieces slurmctld slurmd.gpu-node-17 slurmd.gpu-node-18
head -60 $S/log/slurmctld.log | grep -v 'Lookup failed for 0.0.0.0' > "$D/slurmctld-start.log"
expect clean - - - slurm/task-failed,slurm/cancelled,slurm/node-failed
readme "A job that ends well, with the controller's and both node daemons' logs of the time, and the controller's first lines: its complaints about state files that a new cluster does not have yet are no fault."

# ---- a node dies ---------------------------------------------------------------------------------------------------
incident slurm-node-failure; mark
job <<< "srun --label --no-kill -n 4 -N 2 $S/step.sh sleep; sleep 60"
sbatch -o slurm-%j.out -N 2 -n 4 -J nodefail job.sh > /dev/null
sleep 4
B=$(squeue -h -n nodefail -o %i)
pkill -KILL -P $D18; for p in $(pgrep -f "slurmstepd: \[$B"); do [ "$(readlink /proc/$p/ns/uts)" = "$(readlink /proc/$D18/ns/uts)" ] && kill -KILL $p; done
kill -KILL $D18
for _ in $(seq 40); do squeue -h -n nodefail | grep -q . || break; scontrol ping > /dev/null; sleep 1; done
cp slurm-*.out "$D"/; scontrol show node gpu-node-18 > "$D/scontrol-show-node.txt"; squeue > "$D/squeue.txt"; clean "$D/scontrol-show-node.txt"
pieces slurmctld slurmd.gpu-node-17
expect fault slurm/node-failed slurm-node-failure slurm/task-failed slurm/time-limit
readme "The second node's daemons die while a job runs: the controller declares the node down and ends the job."

incident slurm-nodes-down-pending
scontrol update nodename=gpu-node-17 state=drain reason="Prolog error" 2>/dev/null
job <<< 'srun hostname'
sbatch -N 2 job.sh > "$D/sbatch.log"; sleep 4
{ squeue -o "%.8i %.9P %.10j %.4t %.6D %R"; echo; sinfo -R -o "%30E %9u %19H %N"; echo; sinfo; } > "$D/squeue.log"
scancel -u root; sleep 1
expect fault slurm/job-pending slurm-pending-reasons slurm/node-failed,slurm/node-drained -
readme "A job waits since one node is down and the other drained: squeue, sinfo -R and sinfo."
stop

# ---- other configurations ----------------------------------------------------------------------------------------
rm -rf $S/state/*
cluster "JobAcctGatherParams=OverMemoryKill" task/none
incident slurm-exceeded-memory-limit; mark
cat > eat.py <<'PY'
import time
shards = []
for i in range(40):
    shards.append(bytearray(16 << 20))
    print(f"shard {i} loaded, {16 * (i + 1)} MiB", flush=True)
    time.sleep(0.3)
PY
job <<< 'srun --label -n 1 python3 eat.py'
batch -n 1 --mem=150M
pieces slurmd.gpu-node-17
expect fault slurm/out-of-memory slurm-exceeded-memory-limit slurm/task-failed,slurm/cancelled -
readme "Slurm's own sampling of memory (JobAcctGatherParams=OverMemoryKill) ends the step."
stop

printf '#!/bin/bash\necho "gpu health check: 7 of 8 GPUs answered"\nexit 1\n' > $S/etc/prolog.sh; chmod +x $S/etc/prolog.sh
echo "Prolog=$S/etc/prolog.sh" > $S/etc/extra
rm -rf $S/state/*
cluster "" task/none
incident slurm-prolog-failure; mark
job <<< 'srun hostname'
sbatch -o "$D/slurm-%j.out" job.sh > "$D/sbatch.log" 2>&1; sleep 5
{ squeue -o "%.8i %.9P %.10j %.4t %.6D %R"; echo; sinfo -R -o "%30E %9u %19H %N"; } > "$D/squeue.log"
pieces slurmctld slurmd.gpu-node-17
scancel -u root
expect fault slurm/node-drained slurm-prolog-failure,slurm-pending-reasons slurm/node-drained -
readme "The node's prolog (a health check) fails: the node is drained, the job goes back to the queue and is held."
