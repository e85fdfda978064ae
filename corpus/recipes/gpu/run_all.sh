#!/bin/bash
# Runs the cases of cases.sh on a machine with two NVIDIA GPUs and packs their logs.
#
# Needs: Linux, two GPUs, python3 with torch (and, for some cases, transformers, accelerate, lightning, tokenizers,
# mpi4py), nvcc; root for the cases that mount a small file system (they run in a mount namespace of their own).
# Run: bash run_all.sh FOLDER [PATTERN...]    logs end up in FOLDER/logs.tar.gz, one folder a case;
# PATTERN is a shell pattern over case names ("cuda-*"), default all.
# Settings: JOBS (cases side by side, 6), TIME_LIMIT_S (start no further case after that many seconds, 540).
# NVLink multicast is left off throughout: a fault in it can take GPUs out of service.

export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NVSHMEM_DISABLE_NVLS=1
export PYTHONUNBUFFERED=1 OMP_NUM_THREADS=${OMP_NUM_THREADS-4}
here=$(cd "$(dirname "$0")" && pwd)
export WORK=${WORK:-/tmp/gpu-recipes} STUBS=${WORK:-/tmp/gpu-recipes}/stubs
export PATH=$PATH:$WORK/bin
export SYSTEM_NCCL=${SYSTEM_NCCL:-$(ldconfig -p | sed -n 's/.*libnccl\.so\.2 .*=> //p' | head -1)}
export T1="torchrun --standalone --nproc-per-node 1"
export T2="torchrun --standalone --nproc-per-node 2"
export T4="torchrun --standalone --nproc-per-node 4"

names=() scripts=() limits=() commands=() exclusive=() side_by_side=()
add() { names+=("$1") scripts+=("$2") limits+=("$3") commands+=("$4"); }
x() { exclusive+=(${#names[@]}); add "$@"; }
c() { side_by_side+=(${#names[@]}); add "$@"; }
. "$here/cases.sh"

# Two torchrun agents with one GPU each. NCCL_HOSTID makes NCCL take them for two hosts, so that it uses the network.
two_nodes() {
    local settings=$1 node
    shift
    for node in 0 1; do
        env $settings NCCL_HOSTID=node-$node CUDA_VISIBLE_DEVICES=$node torchrun --nnodes 2 --node-rank $node \
            --nproc-per-node 1 --master-addr 127.0.0.1 --master-port "$PORT" "$@" >"$L/node-$node.log" 2>&1 &
    done
    wait
}

# Two agents that meet through the c10d rendezvous; after 25 s the first one, which hosts the store, is killed with its worker.
two_nodes_lose_first() {
    local node agents=()
    for node in 0 1; do
        NCCL_HOSTID=node-$node CUDA_VISIBLE_DEVICES=$node torchrun --nnodes 2 --nproc-per-node 1 --rdzv-backend c10d \
            --rdzv-endpoint "127.0.0.1:$PORT" --rdzv-id pretrain --rdzv-conf "is_host=$((1 - node))" "$@" >"$L/node-$node.log" 2>&1 &
        agents+=($!)
    done
    sleep 25
    kill -9 "${agents[0]}" $(cat "/proc/${agents[0]}/task/${agents[0]}/children")
    wait
}
export -f two_nodes two_nodes_lose_first

# Ends what a case left behind: processes that still work in its folder.
end_leftovers() {
    local pid
    for pid in /proc/[0-9]*; do
        [ "$(readlink "$pid/cwd")" = "$1" ] && kill -9 "${pid#/proc/}" 2>/dev/null
    done
}

run_case() {
    local i=$1 name=${names[$1]} began=$SECONDS code
    [ "$(($(date +%s) - STARTED))" -gt "${TIME_LIMIT_S:-540}" ] && { echo "$name skipped" >>"$OUT_DIR/summary.txt"; return; }
    export L=$OUT_DIR/logs/$name PORT=$((29600 + i))
    local folder=$WORK/$name
    rm -rf "$folder" "$L"
    mkdir -p "$folder" "$L"
    [ "${scripts[$i]}" = - ] || cp "$here/${scripts[$i]}" "$folder/train.py"
    cp "$here/trainlib.py" "$here/hold_memory.py" "$WORK"/build/* "$folder/" 2>/dev/null
    (cd "$folder" && timeout -k 10 "${limits[$i]}" bash -c "${commands[$i]}" >"$L/job.log" 2>&1)
    code=$?
    end_leftovers "$folder"
    [ -s "$L/job.log" ] || rm -f "$L/job.log"
    echo "$name exit=$code seconds=$((SECONDS - began)) bytes=$(du -cb "$L" | tail -1 | cut -f1)" >>"$OUT_DIR/summary.txt"
}

if [ "$1" = --one ]; then
    run_case "$2"
    exit
fi

export OUT_DIR=$1 STARTED=$(date +%s)
shift
mkdir -p "$OUT_DIR" "$WORK/build" "$WORK/bin" "$STUBS"
# Where torch is installed without its launchers on the PATH.
type torchrun >/dev/null 2>&1 || printf '#!/bin/sh\nexec python3 -m torch.distributed.run "$@"\n' >"$WORK/bin/torchrun"
type accelerate >/dev/null 2>&1 || printf '#!/bin/sh\nexec python3 -m accelerate.commands.accelerate_cli "$@"\n' >"$WORK/bin/accelerate"
chmod +x "$WORK"/bin/* 2>/dev/null
rm -rf "$OUT_DIR/logs" "$OUT_DIR/summary.txt"
: >"$OUT_DIR/summary.txt"
wanted() {
    [ -z "${patterns[*]}" ] && return 0
    local p
    for p in "${patterns[@]}"; do [[ $1 == $p ]] && return 0; done
    return 1
}
patterns=("$@")

old="-gencode arch=compute_75,code=sm_75"
library="-cudart shared -shared -Xcompiler -fPIC"
nvcc -arch=native $library -o "$WORK/build/libfused_ops.so" "$here/fused_ops.cu" &
nvcc $old $library -o "$WORK/build/libfused_ops_sm75.so" "$here/fused_ops.cu" &
(cd "$here" && nvcc -lineinfo -arch=native -o "$WORK/build/saxpy" saxpy.cu) &
(cd "$here" && nvcc $old -o "$WORK/build/saxpy_sm75" saxpy.cu) &
ln -sf "$(find -L /usr/local/cuda*/ -path '*stubs/libcuda.so' 2>/dev/null | head -1)" "$STUBS/libcuda.so.1"
python3 -c 'import torch; torch.ones(1, device="cuda")' &
wait

for i in "${exclusive[@]}"; do
    wanted "${names[$i]}" && run_case "$i"
done
for i in "${side_by_side[@]}"; do
    wanted "${names[$i]}" && echo "$i"
done | xargs -r -P "${JOBS:-6}" -n 1 bash "$0" --one

python3 "$here/scrub.py" "$OUT_DIR/logs" "$WORK"
tar -czf "$OUT_DIR/logs.tar.gz" -C "$OUT_DIR" logs summary.txt
rm -rf "$OUT_DIR/logs"
cat "$OUT_DIR/summary.txt"
