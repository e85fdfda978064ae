#!/bin/bash
# PyTorch jobs on gloo, each with one fault (or one root and its echoes), and healthy ones.
# Needs: root; the venv of lib.sh (torch numpy); memory cgroup v1 for the out-of-memory runs.
# Run:   bash corpus/recipes/torch_runs.sh [NAME-PATTERN]     (about eight minutes; loads one or two cores)
. "$(dirname "$0")/lib.sh"
need_venv
PROGRAMS="torch 2.13.0+cpu, CPython 3.11.7, Debian 12"
export TMPDIR=/opt/train/tmp
ONLY=${1:-}
TR="torchrun --nproc-per-node"

# train_py: a small DDP training; the body of HOOK_<place> goes in at `setup`, `model`, `step` and `end`
train_py() {
    mkdir -p tmp
    cat > train.py <<PY
import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=int(os.environ.get("PG_TIMEOUT", "60"))))
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
${HOOK_setup:+$(sed 's/^/    /' <<< "$HOOK_setup")
}    net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
${HOOK_model:+$(sed 's/^/    /' <<< "$HOOK_model")
}    model = DDP(net)
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(int(os.environ.get("STEPS", "8"))):
        x = torch.randn(16, 32)
${HOOK_step:+$(sed 's/^/        /' <<< "$HOOK_step")
}        loss = model(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"[{time.strftime('%H:%M:%S')}] rank {rank}/{world} step {step} loss {loss.item():.4f}", flush=True)
${HOOK_end:+$(sed 's/^/    /' <<< "$HOOK_end")
}    dist.destroy_process_group()


${RECORD:-}
if __name__ == "__main__":
    main()
PY
    if [ -n "${RECORD:-}" ]; then
        sed -i -e "s/^$RECORD\$//" -e "s/^def main():/$RECORD\ndef main():/" -e "s/^import torch.distributed as dist/import torch.distributed as dist\nfrom torch.distributed.elastic.multiprocessing.errors import record/" train.py
    fi
}
# no_ddp: the same training with gradients averaged by hand (DDP under TORCH_DISTRIBUTED_DEBUG=DETAIL crashes in this build)
no_ddp() { sed -i -e 's/DDP(net)/net/' -e 's/^        opt.step()/        for p in model.parameters():\n            dist.all_reduce(p.grad)\n        opt.step()/' train.py; }
hooks() { HOOK_setup= HOOK_model= HOOK_step= HOOK_end= RECORD=; }
# want NAME: whether this incident is asked for; starts it if so
want() { hooks; [[ -z "$ONLY" || "$1" == *$ONLY* ]] && { incident "$1"; mkdir -p tmp; }; }

# ---- one rank fails ------------------------------------------------------------------------------------------------
if want torch-rank-exception; then
HOOK_step='if rank == 2 and step == 4:
    batch = {"tokens": x}
    x = batch["input_ids"]'
train_py; capture job.log $TR 4 train.py
expect fault python/key-error torchrun-child-failed,gloo-connectfullmesh torch/child-failed,torch/gloo-peer-closed nccl
readme "Rank 2 of four raises KeyError at step 4; the others lose their connection; torchrun sums up."
fi

if want torch-rank-exception-recorded; then
RECORD='@record'
HOOK_step='if rank == 1 and step == 4:
    raise ValueError(f"sample 8812 of shard 3 has length 0 (rank {rank})")'
train_py; capture job.log $TR 4 train.py
expect fault python/value-error torchrun-child-failed torch/child-failed,torch/gloo-peer-closed nccl
readme "As torch-rank-exception, with @record: the summary carries the traceback."
fi

if want torch-rank-exits-one; then
HOOK_step='if rank == 3 and step == 4:
    os._exit(1)'
train_py; capture job.log $TR 4 train.py
expect unknown-fault - torchrun-child-failed,gloo-connectfullmesh torch/child-failed,torch/gloo-peer-closed nccl
readme "Rank 3 leaves with os._exit(1) and prints nothing: its log does not say why, the others only echo."
fi

if want torch-rank-killed; then
HOOK_step='if rank == 1 and step == 4:
    os.kill(os.getpid(), 9)'
train_py; capture job.log $TR 4 train.py
expect fault host/process-killed torchrun-child-failed,torchrun-agent-closing-signal,gloo-connectfullmesh torch/child-failed,torch/gloo-peer-closed nccl
readme "Rank 1 dies of SIGKILL, nobody says from whom."
fi

if want torch-rank-segfault; then
HOOK_step='if rank == 2 and step == 4:
    import ctypes
    ctypes.string_at(8)'
train_py; capture job.log env PYTHONFAULTHANDLER=1 $TR 4 train.py
expect fault host/segmentation-fault host-core-dump-segfault,torchrun-child-failed torch/child-failed,torch/gloo-peer-closed nccl
readme "Rank 2 reads address 8; Python's fault handler prints where."
fi

if want torch-rank-oom-killed; then
HOOK_step='if rank == 1 and step == 3:
    hoard = []
    while True:
        hoard.append(torch.ones(4 << 20))'
train_py
G=/sys/fs/cgroup/memory/train-job; mkdir -p $G; echo 2200M > $G/memory.limit_in_bytes
dmesg -C
capture job.log bash -c "echo \$\$ > $G/cgroup.procs; exec $TR 4 train.py"
dmesg > "$D/dmesg.log"; clean "$D/dmesg.log"; sleep 1; cat $G/memory.failcnt $G/memory.oom_control > "$D/memory.oom_control.txt"; rmdir $G
expect fault host/oom-killed host-oom-killer,torchrun-child-failed,gloo-connectfullmesh torch/child-failed,host/process-killed,torch/gloo-peer-closed nccl
readme "Rank 1 hoards memory until the memory cgroup's limit (2200 MB) is hit: the kernel kills it (dmesg.log), the other ranks lose their connection, torchrun reports signal 9."
fi

if want torch-rank-address-space-limit; then
HOOK_setup='if rank == 2:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))'
HOOK_step='if rank == 2 and step == 3:
    cache = [torch.ones(1 << 28) for _ in range(8)]'
train_py; capture job.log $TR 4 train.py
expect fault host/cpu-allocation-failed torchrun-child-failed torch/child-failed,torch/gloo-peer-closed host/oom-killed,nccl
readme "Rank 2 runs under an address-space limit (as ulimit -v) and asks for more: DefaultCPUAllocator cannot allocate memory."
fi

if want torch-log-tree-two-faults; then
RECORD='@record'
HOOK_step='if rank == 3 and step == 4:
    torch.load("/data/checkpoints/step-4000.pt")
if rank == 0 and step == 4:
    time.sleep(0.2)'
train_py
LIMIT=90 capture launcher.log $TR 4 --redirects 0 --tee 3 --log-dir logs train.py
cp -r logs "$D/"; clean $(find "$D/logs" -type f)
expect fault python/file-not-found py-file-not-found-script,torchrun-child-failed,gloo-connectfullmesh torch/child-failed,torch/gloo-peer-closed nccl
readme "Rank 3 does not find its checkpoint; run with --tee 3 --log-dir, so there is a folder per rank with stdout.log, stderr.log and error.json beside the launcher's merged output (lines start [default3]:)."
fi

if want torch-restarts-exhausted; then
HOOK_setup='with open("/opt/train/vocab.json") as f:
    f.read()'
train_py; capture job.log $TR 2 --max-restarts 2 train.py
expect fault python/file-not-found py-file-not-found-script,torchrun-child-failed,torchrun-agent-closing-signal torch/child-failed nccl
readme "Both ranks miss a file, torchrun restarts the group twice and gives up."
fi

if want torch-two-nodes-root-on-second; then
HOOK_step='if rank == 3 and step == 4:
    raise RuntimeError("tokenizer produced id 50304, vocabulary has 50257")'
train_py
ARGS="--nnodes 2 --nproc-per-node 2 --rdzv-backend c10d --rdzv-endpoint gpu-node-17:29711 --rdzv-id run7"
(unshare --uts sh -c "hostname gpu-node-18; sleep 1; cd /opt/train; exec torchrun $ARGS train.py" > "$D/gpu-node-18.log" 2>&1 < /dev/null; echo "gpu-node-18.log: exit code $?" > other) &
capture gpu-node-17.log torchrun $ARGS train.py; wait $!
clean "$D/gpu-node-18.log"
expect fault python/runtime-error torchrun-child-failed,gloo-connectfullmesh torch/child-failed,torch/gloo-peer-closed nccl
readme "Two launchers, one log each (two UTS namespaces on loopback, named gpu-node-17 and gpu-node-18). Rank 3 on gpu-node-18 fails; the log of gpu-node-17 shows the echo only."
fi

if want torchrun-gets-sigterm; then
train_py
cat > run.sh <<'SH'
torchrun --nproc-per-node 2 train.py &
sleep 9; kill -TERM $!; wait $!
echo "torchrun exit code $?"
SH
HOOK_step='time.sleep(1)'; train_py
capture job.log env STEPS=60 bash run.sh
expect fault torch/stopped-by-signal torchrun-signal-exception,torchrun-agent-closing-signal - nccl
readme "Something outside stops torchrun with SIGTERM, as a scheduler does."
fi

if want torch-two-nodes-oom-on-second; then
HOOK_step='if rank == 3 and step == 3:
    hoard = []
    while True:
        hoard.append(torch.ones(4 << 20))'
train_py
ARGS="--nnodes 2 --nproc-per-node 2 --rdzv-backend c10d --rdzv-endpoint gpu-node-17:29714 --rdzv-id run9"
G=/sys/fs/cgroup/memory/train-job; mkdir -p $G; echo 1400M > $G/memory.limit_in_bytes; dmesg -C
(echo $BASHPID > $G/cgroup.procs; exec unshare --uts sh -c "hostname gpu-node-18; sleep 1; cd /opt/train; exec torchrun $ARGS train.py" > "$D/gpu-node-18.log" 2>&1 < /dev/null) &
capture gpu-node-17.log torchrun $ARGS train.py; wait $!
CODES="$CODES gpu-node-18.log: exit code $?;"
dmesg > "$D/gpu-node-18.dmesg.log"; clean "$D"/*.log; rmdir $G
expect fault host/oom-killed host-oom-killer,torchrun-child-failed,gloo-connectfullmesh torch/child-failed,host/process-killed,torch/gloo-peer-closed nccl
readme "Two launchers on two hosts (UTS namespaces on loopback). Rank 3 on gpu-node-18 hoards memory and the memory cgroup's killer ends it (gpu-node-18.dmesg.log); both launchers' logs show echoes only."
fi

if want torch-dataloader-worker-oom-killed; then
train_py
sed -i -e 's/^def main():/class Shards(torch.utils.data.Dataset):\n    def __len__(self):\n        return 4096\n\n    def __getitem__(self, i):\n        if i > 200 and os.environ["RANK"] == "1":\n            self.__dict__.setdefault("cache", []).append(torch.ones(8 << 20))\n        return torch.ones(32)\n\n\ndef main():/' \
    -e 's/^    for step in range.*/    for step, x in enumerate(torch.utils.data.DataLoader(Shards(), batch_size=16, num_workers=1)):/' -e '/x = torch.randn(16, 32)/d' train.py
G=/sys/fs/cgroup/memory/train-job; mkdir -p $G; echo 2000M > $G/memory.limit_in_bytes; dmesg -C
capture job.log bash -c "echo \$\$ > $G/cgroup.procs; exec $TR 2 train.py"
dmesg > "$D/dmesg.log"; clean "$D/dmesg.log"; sleep 1; rmdir $G
expect fault host/oom-killed host-oom-killer,dataloader-worker-killed,torchrun-child-failed torch/dataloader-worker-killed,torch/child-failed,torch/gloo-peer-closed nccl
readme "A data loader worker of rank 1 caches too much; the memory cgroup's killer ends it (dmesg.log), the rank fails, the other rank loses its connection, torchrun sums up."
fi

if want torch-fork-enomem-one-rank; then
HOOK_setup='from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8, num_workers=1)'
HOOK_step='if step == 3:
    if rank == 2:
        __import__("lose_init").now()
    val = [len(batch) for batch in loader]'
train_py
printf 'import ctypes\nimport os\n\n\ndef now():\n    ctypes.CDLL(None).unshare(0x20000000)\n    if os.fork() == 0:\n        os._exit(0)\n    os.wait()\n' > /opt/app/lose_init.py
capture job.log env PYTHONPATH=/opt/app $TR 4 train.py
expect fault host/fork-out-of-memory host-fork-enomem-generic,torchrun-child-failed,gloo-connectfullmesh torch/child-failed,torch/gloo-peer-closed efa,host/oom-killed,nccl
readme "Rank 2 of four cannot fork its data loader workers (ENOMEM, as in fork-enomem-dataloader); the others lose their connection."
fi

if want torch-store-host-dies; then
cat > train.py <<'PY'
from datetime import timedelta
import torch.distributed as dist

store, rank, world = next(dist.rendezvous("env://", timeout=timedelta(seconds=30)))
print(f"rank {rank}/{world}: waiting for the data set", flush=True)
if rank == 0:
    import time
    time.sleep(3)
    with open("/data/tokens/index.json") as f:
        store.set("dataset", f.read())
store.get("dataset")
PY
for r in 2 1; do env RANK=$r WORLD_SIZE=3 MASTER_ADDR=gpu-node-17 MASTER_PORT=29602 python train.py > "$D/rank-$r.log" 2>&1 < /dev/null & done
capture rank-0.log env RANK=0 WORLD_SIZE=3 MASTER_ADDR=gpu-node-17 MASTER_PORT=29602 python train.py
wait; clean "$D"/*.log
expect fault python/file-not-found py-file-not-found-script,torch-store-connection-closed torch/store-connection-closed nccl
readme "Rank 0 holds the TCPStore, misses a file and ends; the other ranks, one log each, only see the store's connection go."
fi

if want torch-under-mpirun-rank-exception; then
HOOK_step='if rank == 1 and step == 4:
    open("/fsx/tokens/shard-00017.bin", "rb")'
train_py
sed -i 's/^def main():/for name, source in (("RANK", "RANK"), ("WORLD_SIZE", "SIZE"), ("LOCAL_RANK", "LOCAL_RANK")):\n    os.environ[name] = os.environ[f"OMPI_COMM_WORLD_{source}"]\n\n\ndef main():/' train.py
capture job.log mpirun --allow-run-as-root --oversubscribe --tag-output -x MASTER_ADDR=gpu-node-17 -x MASTER_PORT=29603 -x OMP_NUM_THREADS=1 -np 3 python train.py
expect fault python/file-not-found py-file-not-found-script,mpi-nonzero-exit,gloo-connectfullmesh mpi/rank-exit-code,torch/gloo-peer-closed nccl
readme "mpirun starts a DDP job; rank 1 does not find a shard, the others lose their connection, mpirun sums up. Lines carry the rank."
fi

# ---- hangs, stores, rendezvous -----------------------------------------------------------------------------------
if want torch-gloo-collective-timeout; then
HOOK_step='if rank == 1 and step == 3:
    time.sleep(25)'
train_py; capture job.log env PG_TIMEOUT=8 $TR 3 train.py
expect fault torch/collective-timeout torchrun-child-failed torch/child-failed,torch/gloo-peer-closed nccl
readme "Rank 1 sleeps for 25 s where the process group waits 8 s; the ranks that wait report the timeout."
fi

if want torch-monitored-barrier; then
HOOK_step='if step == 2:
    if rank == 2:
        time.sleep(20)
    dist.monitored_barrier(timeout=timedelta(seconds=5))'
train_py; capture job.log env $TR 4 train.py
expect fault torch/monitored-barrier-failed monitored-barrier-rank,torchrun-child-failed torch/child-failed,torch/gloo-peer-closed nccl
readme "Rank 2 does not come to a monitored barrier in 5 s; rank 0 names it."
fi

if want torch-store-connect-timeout; then
cat > train.py <<'PY'
from datetime import timedelta
import torch.distributed as dist
dist.init_process_group("gloo", init_method="tcp://gpu-node-18:29600", rank=1, world_size=2, timeout=timedelta(seconds=8))
PY
capture job.log python train.py
expect fault torch/store-unreachable torch-tcpstore-client-timeout network/connection-failed nccl
readme "Rank 1 looks for the master on gpu-node-18, where nothing listens (loopback)."
fi

if want torch-master-name-unresolvable; then
cat > train.py <<'PY'
import torch.distributed as dist
dist.init_process_group("gloo")
PY
capture job.log env MASTER_ADDR=train-job-master-0.invalid MASTER_PORT=29600 RANK=1 WORLD_SIZE=2 timeout 40 python -c 'from datetime import timedelta
import torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=6))'
expect fault network/name-not-resolved host-dns-failure,torch-tcpstore-client-timeout torch/store-unreachable nccl
readme "MASTER_ADDR has no address (a name under .invalid)."
fi

if want torch-world-size-too-large; then
HOOK_setup=; train_py
capture job.log env MASTER_ADDR=gpu-node-17 MASTER_PORT=29601 RANK=0 WORLD_SIZE=4 PG_TIMEOUT=8 python train.py
expect fault torch/ranks-missing-at-store torch-store-clients-joined-timeout,torch-store-wait-timeout - nccl
readme "WORLD_SIZE says four and one rank is started: the store waits for the others in vain."
fi

if want torch-rendezvous-timeout; then
train_py
capture job.log torchrun --nnodes 2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-endpoint gpu-node-17:29712 --rdzv-id run8 --rdzv-conf join_timeout=8 train.py
expect fault torch/rendezvous-timeout torch-rendezvous-timeout - nccl
readme "Two nodes are asked for and one launcher is started; it waits 8 s for the other."
fi

if want torch-rdzv-endpoint-unreachable; then
train_py
LIMIT=120 capture job.log unshare --uts sh -c "hostname gpu-node-18; exec torchrun --nnodes 2 --nproc-per-node 1 --node-rank 1 --rdzv-backend static --rdzv-conf timeout=12 --master-addr head-node.invalid --master-port 29713 train.py"
expect fault network/name-not-resolved host-dns-failure,torch-rendezvous-timeout torch/store-unreachable nccl
readme "The second node's torchrun is pointed at a master whose name has no address."
fi

if want torch-address-in-use; then
train_py
cat > run.sh <<'SH'
torchrun --nproc-per-node 2 --master-port 29555 train.py > first.log 2>&1 &
sleep 6
torchrun --nproc-per-node 2 --master-port 29555 train.py
rc=$?
kill %1; wait
exit $rc
SH
HOOK_step='time.sleep(1)'; train_py
capture job.log env STEPS=40 bash run.sh
expect fault torch/address-in-use torch-address-already-in-use,host-address-in-use network/address-in-use nccl
readme "A second torchrun on the same host with the same --master-port."
fi

if want torch-env-variable-missing; then
train_py; capture job.log python train.py
expect fault torch/rendezvous-variable-missing torch-env-rendezvous-missing-variable - nccl
readme "The script is started with plain python instead of torchrun."
fi

if want torch-local-rank-missing; then
cat > train.py <<'PY'
import os
import torch
local_rank = int(os.environ["LOCAL_RANK"])
torch.manual_seed(local_rank)
PY
capture job.log mpirun --allow-run-as-root --oversubscribe --tag-output -np 2 python train.py
expect fault torch/rendezvous-variable-missing torch-env-rendezvous-missing-variable,mpi-nonzero-exit mpi/rank-exit-code -
readme "mpirun starts a script that expects torchrun's LOCAL_RANK."
fi

if want torch-process-group-missing; then
cat > train.py <<'PY'
import torch
import torch.distributed as dist

t = torch.ones(4)
dist.all_reduce(t)
print(t)
PY
capture job.log $TR 2 train.py
expect fault torch/process-group-not-initialized torch-pg-not-initialized,torchrun-child-failed torch/child-failed nccl
readme "A collective is called before init_process_group."
fi

# ---- collectives and models that differ between ranks ---------------------------------------------------------------
if want torch-collective-shape-mismatch; then
HOOK_step='if step == 3:
    t = torch.ones(8 if rank == 0 else 6)
    dist.all_reduce(t)'
train_py; no_ddp; capture job.log env TORCH_DISTRIBUTED_DEBUG=DETAIL $TR 3 train.py
expect fault torch/collective-mismatch torch-collective-mismatch-by-rank,torchrun-child-failed torch/child-failed,torch/gloo-peer-closed nccl
readme "Rank 0 reduces a tensor of another shape; TORCH_DISTRIBUTED_DEBUG=DETAIL finds it."
fi

if want torch-collective-order-mismatch; then
HOOK_step='if step == 3:
    t = torch.ones(8)
    dist.broadcast(t, 0) if rank == 1 else dist.all_reduce(t)'
train_py; no_ddp; capture job.log env TORCH_DISTRIBUTED_DEBUG=DETAIL $TR 2 train.py
expect fault torch/collective-mismatch torch-collective-mismatch-by-rank,torchrun-child-failed torch/child-failed,torch/gloo-peer-closed nccl
readme "One rank broadcasts while the other reduces; DETAIL debug finds it."
fi

if want torch-collective-shape-mismatch-no-debug; then
HOOK_step='if step == 3:
    t = torch.ones(1 << 20) if rank == 0 else torch.ones(1 << 10)
    dist.all_reduce(t)'
train_py; capture job.log env PG_TIMEOUT=8 $TR 2 train.py
expect fault torch/collective-mismatch torch-collective-mismatch-by-rank torch/child-failed,torch/gloo-peer-closed,torch/collective-timeout,torch/gloo-size-mismatch nccl
readme "The same fault of different sizes without debug help: gloo itself trips over it."
fi

if want ddp-unused-parameters; then
HOOK_model='class TwoHeads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.a, self.b = torch.nn.Linear(32, 32), torch.nn.Linear(32, 1), torch.nn.Linear(32, 1)
    def forward(self, x):
        return self.a(self.body(x))
net = TwoHeads()'
train_py; capture job.log $TR 2 train.py
expect fault torch/ddp-unused-parameters ddp-unused-parameters,torchrun-child-failed torch/child-failed nccl
readme "A head of the model takes no part in the loss."
fi

if want ddp-unused-parameters-named; then
HOOK_model='class TwoHeads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.a, self.b = torch.nn.Linear(32, 32), torch.nn.Linear(32, 1), torch.nn.Linear(32, 1)
    def forward(self, x):
        return self.a(self.body(x))
net = TwoHeads()'
train_py; capture job.log env TORCH_DISTRIBUTED_DEBUG=INFO $TR 2 train.py
expect fault torch/ddp-unused-parameters ddp-unused-parameters,torchrun-child-failed torch/child-failed nccl
readme "As ddp-unused-parameters with TORCH_DISTRIBUTED_DEBUG=INFO: the parameters are named."
fi

if want torch-ddp-debug-detail-segfault; then
train_py; capture job.log env TORCH_DISTRIBUTED_DEBUG=DETAIL $TR 2 train.py
expect unknown-fault - torchrun-child-failed,host-core-dump-segfault torch/child-failed,host/segmentation-fault,host/process-killed nccl,torch/collective-mismatch
readme "A healthy script; this build of torch crashes in DDP when TORCH_DISTRIBUTED_DEBUG=DETAIL. Nothing but the launcher's summary tells."
fi

if want ddp-parameter-shape-mismatch; then
HOOK_model='net = torch.nn.Linear(32, 1 if rank == 0 else 2)'
train_py; capture job.log $TR 2 train.py
expect fault torch/ddp-models-differ ddp-param-shape-mismatch,torchrun-child-failed torch/child-failed nccl
readme "The ranks build models of different shape."
fi

if want ddp-parameter-count-mismatch; then
HOOK_model='net = torch.nn.Sequential(*[torch.nn.Linear(32, 32) for _ in range(3 + rank)])'
train_py; capture job.log $TR 2 train.py
expect fault torch/ddp-models-differ ddp-param-shape-mismatch,torchrun-child-failed torch/child-failed nccl
readme "The ranks build models of different depth."
fi

# ---- data loading ----------------------------------------------------------------------------------------------------
loader_py() {  # SAMPLE-BODY [LOADER-ARGS]
    cat > train.py <<PY
import os
import torch
from torch.utils.data import DataLoader, Dataset


class Shards(Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, i):
$(sed 's/^/        /' <<< "$1")
        return torch.ones(3, 64, 64) * i


if __name__ == "__main__":
    loader = DataLoader(Shards(), batch_size=8, ${2:-num_workers=2})
    for n, batch in enumerate(loader):
        print(f"batch {n} mean {batch.mean().item():.1f}", flush=True)
PY
}
if want dataloader-worker-killed; then
loader_py 'if i == 60:
    os.kill(os.getpid(), 9)'
capture job.log python train.py
expect fault torch/dataloader-worker-killed dataloader-worker-killed - -
readme "A data loader worker dies of SIGKILL."
fi

if want dataloader-worker-segfault; then
loader_py 'if i == 60:
    import ctypes
    ctypes.string_at(8)'
capture job.log python train.py
expect fault torch/dataloader-worker-crashed dataloader-worker-killed torch/dataloader-worker-killed,host/segmentation-fault -
readme "A data loader worker crashes in native code."
fi

if want dataloader-worker-exception; then
loader_py 'if i == 60:
    open(f"/data/images/{i:08d}.jpg", "rb")'
capture job.log python train.py
expect fault python/file-not-found py-file-not-found-script - torch/dataloader-worker-killed
readme "A sample's file is missing; the worker's traceback comes through the main process."
fi

if want dataloader-shm-too-small; then
loader_py '' 'num_workers=2, prefetch_factor=8'
sed -i 's/torch.ones(3, 64, 64)/torch.ones(3, 256, 256)/' train.py
capture job.log unshare --mount sh -c 'mount -t tmpfs -o size=4m tmpfs /dev/shm; df -h /dev/shm; exec python train.py'
expect fault torch/dataloader-shm-full dataloader-bus-error-shm,k8s-dev-shm-too-small,torch-shm-mmap-failed torch/dataloader-worker-killed,torch/shared-memory-mapping-failed,storage/no-space-left -
readme "/dev/shm has 4 MB, as in a container with too small a shared memory."
fi

if want dataloader-bus-error; then
loader_py 'import numpy as np
cache = np.memmap(f"/dev/shm/sample-{i}.cache", dtype=np.float32, mode="w+", shape=(256, 1024))
cache[:] = i
if i >= 0:
    return torch.from_numpy(cache[0].copy())'
capture job.log unshare --mount sh -c 'mount -t tmpfs -o size=4m tmpfs /dev/shm; exec python train.py'
expect fault torch/dataloader-shm-full dataloader-bus-error-shm,k8s-dev-shm-too-small torch/dataloader-worker-killed,torch/dataloader-worker-crashed -
readme "Workers write a cache of memory-mapped files to a /dev/shm of 4 MB: SIGBUS, and the message of torch's own handler."
fi

if want dataloader-too-many-open-files; then
loader_py '' 'num_workers=2, prefetch_factor=64'
sed -i 's/    for n, batch in enumerate(loader):/    kept = []\n    for n, batch in enumerate(loader):\n        kept.append(batch)/; s/batch_size=8/batch_size=1/' train.py
capture job.log bash -c 'ulimit -n 48; exec python train.py'
expect fault torch/dataloader-open-files dataloader-too-many-open-files,host-too-many-open-files host/too-many-open-files -
readme "The limit of open files is 48 and every batch that is kept holds one."
fi

if want dataloader-timeout; then
loader_py 'if i == 60:
    import time
    time.sleep(60)' 'num_workers=2, timeout=4'
capture job.log python train.py
expect fault torch/dataloader-timeout dataloader-worker-killed - -
readme "A sample takes a minute, the loader waits 4 s."
fi

if want dataloader-pickle-lambda; then
cat > train.py <<'PY'
import torch
from torch.utils.data import DataLoader

if __name__ == "__main__":
    loader = DataLoader(list(range(64)), batch_size=8, num_workers=2, multiprocessing_context="spawn",
                        collate_fn=lambda batch: torch.tensor(batch))
    for batch in loader:
        print(batch)
PY
capture job.log python train.py
expect fault python/cannot-pickle py-pickle-error - -
readme "A lambda goes to spawned workers."
fi

# ---- checkpoints and files ---------------------------------------------------------------------------------------
save_py() {
    cat > train.py <<PY
import torch
model = torch.nn.Sequential(torch.nn.Linear(${1:-512}, 512), torch.nn.Linear(512, 512))
opt = torch.optim.AdamW(model.parameters())
print("resuming", flush=True)
$2
PY
}
python - <<'PY'
import torch
m = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.Linear(512, 512))
torch.save({"model": m.state_dict(), "step": 4000}, "/opt/app/good.pt")
torch.save(m, "/opt/app/whole.pt")
PY
if want checkpoint-truncated; then
mkdir ckpt; head -c 1000000 /opt/app/good.pt > ckpt/step-4000.pt
save_py 512 'state = torch.load("ckpt/step-4000.pt")'
capture job.log python train.py
expect fault torch/checkpoint-corrupt torch-load-corrupt - -
readme "The checkpoint was cut off at 1 MB."
fi

if want checkpoint-empty; then
mkdir ckpt; : > ckpt/step-4000.pt
save_py 512 'state = torch.load("ckpt/step-4000.pt")'
capture job.log python train.py
expect fault torch/checkpoint-corrupt torch-load-corrupt,py-pickle-error - -
readme "The checkpoint is an empty file."
fi

if want checkpoint-is-html; then
mkdir ckpt; printf '<!DOCTYPE html>\n<html><body>403 Forbidden</body></html>\n' > ckpt/step-4000.pt
save_py 512 'state = torch.load("ckpt/step-4000.pt", weights_only=False)'
capture job.log python train.py
expect fault torch/checkpoint-corrupt torch-load-corrupt - -
readme "The download stored an error page as checkpoint."
fi

if want checkpoint-weights-only-refused; then
mkdir ckpt; cp /opt/app/whole.pt ckpt/model.pt
save_py 512 'model = torch.load("ckpt/model.pt")'
capture job.log python train.py
expect fault torch/weights-only-refused torch-load-weights-only - torch/checkpoint-corrupt
readme "The file holds a pickled module, which torch.load refuses since weights_only is the default."
fi

if want checkpoint-size-mismatch; then
mkdir ckpt; cp /opt/app/good.pt ckpt/step-4000.pt
save_py 768 'model.load_state_dict(torch.load("ckpt/step-4000.pt")["model"])'
capture job.log python train.py
expect fault torch/state-dict-mismatch torch-state-dict-mismatch - -
readme "The model was built with another width than the checkpoint's."
fi

if want checkpoint-keys-mismatch; then
mkdir ckpt; cp /opt/app/good.pt ckpt/step-4000.pt
save_py 512 'model = torch.nn.DataParallel(model)
model.load_state_dict(torch.load("ckpt/step-4000.pt")["model"])'
capture job.log $TR 2 train.py
expect fault torch/state-dict-mismatch torch-state-dict-mismatch,torchrun-child-failed torch/child-failed -
readme "The checkpoint's keys lack the prefix module. that a wrapped model wants."
fi

if want checkpoint-disk-full; then
mkdir ckpt; mount -t tmpfs -o size=2m tmpfs ckpt
HOOK_end='if rank == 0:
    torch.save({"model": model.state_dict(), "pad": torch.ones(1 << 20)}, "ckpt/step-8.pt")
dist.barrier()'
train_py; capture job.log $TR 2 train.py; umount ckpt
expect fault storage/checkpoint-write-failed host-no-space-left,torchrun-child-failed,gloo-connectfullmesh storage/no-space-left,torch/child-failed,torch/gloo-peer-closed nccl
readme "The file system for checkpoints has 2 MB; rank 0 fails while it saves, rank 1 loses its peer at the barrier."
fi

if want checkpoint-read-only; then
mkdir ckpt; mount -t tmpfs -o ro tmpfs ckpt
HOOK_end='if rank == 0:
    torch.save(model.state_dict(), "ckpt/step-8.pt")
dist.barrier()'
train_py; capture job.log $TR 2 train.py; umount ckpt
expect fault storage/read-only host-read-only-fs,torchrun-child-failed,gloo-connectfullmesh storage/checkpoint-write-failed,torch/child-failed,torch/gloo-peer-closed nccl
readme "The folder for checkpoints is mounted read-only."
fi

# ---- environment ------------------------------------------------------------------------------------------------------
if want cuda-on-cpu-build; then
HOOK_model='net = net.to(f"cuda:{rank}")'
train_py; capture job.log $TR 2 train.py
expect fault cuda/torch-without-cuda torch-no-gpus-for-nccl,cuda-no-device torch/child-failed -
readme "A CPU build of torch is asked for CUDA."
fi

if want nccl-backend-without-gpu; then
train_py; sed -i 's/"gloo"/"nccl"/' train.py
capture job.log $TR 2 train.py
expect fault torch/backend-not-built-in torch-no-gpus-for-nccl torch/child-failed -
readme "backend=nccl with a build of torch that has no NCCL."
fi

if want module-not-found; then
train_py; sed -i 's/^import sys/import sys\nimport flash_attn/' train.py
capture job.log $TR 2 train.py
expect fault python/module-not-found py-module-not-found,torchrun-child-failed torch/child-failed -
readme "A module is not installed in the image."
fi

if want syntax-error; then
train_py; sed -i 's/^def main():/def main()/' train.py
capture job.log $TR 2 train.py
expect fault python/syntax-error py-syntax-or-version,torchrun-child-failed torch/child-failed -
readme "The script has a syntax error."
fi

if want training-script-missing; then
capture job.log $TR 2 /app/pretrain_gpt.py --micro-batch-size 4
expect fault python/script-not-found py-file-not-found-script,torchrun-child-failed torch/child-failed -
readme "The script's path does not exist in the container."
fi

if want nan-loss-stop; then
HOOK_setup='import math'
train_py; sed -i 's/lr=0.01/lr=3e18/; s/        opt.zero_grad()/        if not math.isfinite(loss.item()):\n            print(f"Loss is {loss.item()}, stopping training", flush=True)\n            sys.exit(1)\n        opt.zero_grad()/' train.py
capture job.log $TR 2 train.py
expect fault framework/loss-not-finite nan-loss,torchrun-child-failed torch/child-failed -
readme "The learning rate is absurd: the loss overflows and the script stops itself."
fi

if want bad-launch-argument; then
train_py; sed -i 's/^def main():/import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--lr", type=float, default=0.1)\nparser.parse_args()\n\n\ndef main():/' train.py
capture job.log $TR 2 train.py --learning-rate 3e-4
expect fault python/bad-arguments - torch/child-failed -
readme "A command line option the script does not know: exit code 2."
fi

# ---- healthy ---------------------------------------------------------------------------------------------------------
if want healthy-torchrun-gloo; then
train_py; capture job.log env STEPS=12 $TR 4 train.py
expect clean - torchrun-omp-threads-benign - torch/child-failed,nccl
readme "Four ranks, twelve steps, the OMP_NUM_THREADS notice, nothing wrong."
fi

if want healthy-two-nodes; then
train_py
ARGS="--nnodes 2 --nproc-per-node 2 --rdzv-backend c10d --rdzv-endpoint gpu-node-17:29715 --rdzv-id run10"
(exec unshare --uts sh -c "hostname gpu-node-18; sleep 1; cd /opt/train; exec torchrun $ARGS train.py" > "$D/gpu-node-18.log" 2>&1 < /dev/null) &
capture gpu-node-17.log torchrun $ARGS train.py; wait $!
CODES="$CODES gpu-node-18.log: exit code $?;"
clean "$D"/*.log
expect clean - torchrun-omp-threads-benign - torch/child-failed,nccl
readme "Two launchers on two hosts (UTS namespaces on loopback), four healthy ranks, a log per host."
fi

if want healthy-no-destroy-warning; then
train_py; sed -i '/destroy_process_group/d' train.py
capture job.log env OMP_NUM_THREADS=1 $TR 2 train.py
expect clean - torch-destroy-process-group-warning-benign - torch/child-failed
readme "The script leaves without destroy_process_group."
fi

if want healthy-distributed-debug-detail; then
train_py; no_ddp; capture job.log env TORCH_DISTRIBUTED_DEBUG=DETAIL TORCH_CPP_LOG_LEVEL=INFO TORCH_SHOW_CPP_STACKTRACES=1 $TR 2 train.py
expect clean - - - torch/collective-mismatch,nccl
readme "TORCH_DISTRIBUTED_DEBUG=DETAIL and C++ logging at INFO: much noise, no fault."
fi

if want healthy-log-tree; then
train_py; capture launcher.log $TR 4 --tee 3 --log-dir logs train.py
cp -r logs "$D/"; clean $(find "$D/logs" -type f)
expect clean - - - torch/child-failed,nccl
readme "Four healthy ranks with --tee 3 --log-dir: a folder per rank."
fi

if want recovered-after-restarts; then
HOOK_setup='if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0" and rank == 1:
    raise ConnectionResetError("data service went away")'
train_py; capture job.log $TR 2 --max-restarts 3 train.py
expect unknown-fault - torchrun-agent-closing-signal,gloo-connectfullmesh torch/restarted-worker-group,network/connection-failed,torch/gloo-connect-failed nccl
readme "Rank 1 fails in the first attempt; torchrun restarts the group (more than once, since gloo meets addresses of the dead attempt) and the last attempt ends well. Exit code 0: the job recovered."
fi

if want healthy-gradscaler-overflow; then
train_py
cat > train.py <<'PY'
import torch

torch.manual_seed(0)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**120, growth_interval=4)
model = torch.nn.Linear(32, 1)
opt = torch.optim.SGD(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.StepLR(opt, 5)
for step in range(14):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(40 * torch.randn(64, 32)).pow(2).mean()
    opt.zero_grad()
    scaler.scale(loss).backward()
    before = scaler.get_scale()
    scaler.step(opt)
    scaler.update()
    sched.step()
    skipped = " (step skipped: inf in gradients)" if scaler.get_scale() < before else ""
    print(f"step {step} loss {loss.item():.4f} scale {scaler.get_scale():g}{skipped}", flush=True)
PY
capture job.log python -W always train.py
expect clean - - - framework/loss-not-finite
readme "Loss scaling skips the first steps, as it should, and goes on."
fi

if want healthy-deprecation-warnings; then
cat > train.py <<'PY'
import warnings
import torch
import torch.cuda.amp

model = torch.nn.Linear(32, 32)
scaler = torch.cuda.amp.GradScaler()
with torch.cuda.amp.autocast():
    y = model(torch.randn(4, 32))
torch.nn.utils.weight_norm(model)
sched = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(model.parameters(), lr=0.1), 2)
sched.step()
torch.UntypedStorage(4); torch.tensor([1.0]).storage()
enc = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(31, 1), 1)
torch.meshgrid(torch.arange(2), torch.arange(2))
print("epoch 0 done", y.mean().item() < 10)
PY
capture job.log python -W always::FutureWarning -W always::DeprecationWarning train.py
expect clean - benign-warnings-pack - cuda/torch-without-cuda,cuda/no-device
readme "Deprecation and future warnings of torch, nothing else."
fi
