# ruff: noqa: E501 - the log lines below are data
"""Writes the log of a healthy training job, and counts its words.

The log is the reference of what is ordinary: `python benchmarks/reference.py` counts the words of 200,000 of its lines
into troubleshoot/scan/frequencies.txt, by which the scan picks the rarest literal of each signature. The benchmarks
scan logs of the same kind, in which three lines of ten are NCCL channel lines.

The templates are invented after what these programs print; hosts, paths and numbers vary from line to line.
"""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

TABLE = Path(__file__).parent.parent / "troubleshoot" / "scan" / "frequencies.txt"
LINES = 200_000
LEAST = 2  # a word on fewer lines than this is left out of the table
LEAST_PAIRS = 100  # two words in a row

# Share of the lines of that kind in the reference, which is to show the words of all kinds, and in a job's start; their
# share in the rest of a job's log, most of which is progress; and the lines.
KINDS: dict[str, tuple[float, float, str]] = {
    "channels": (
        30,
        30,
        """
{host}:{pid}:{tid} [{gpu}] NCCL INFO Channel {channel}/0 : {rank}[{gpu}] -> {rank}[{gpu}] [send] via NET/AWS Libfabric/{gpu}/GDRDMA
{host}:{pid}:{tid} [{gpu}] NCCL INFO Channel {channel}/0 : {rank}[{gpu}] -> {rank}[{gpu}] [receive] via NET/AWS Libfabric/{gpu}/GDRDMA
{host}:{pid}:{tid} [{gpu}] NCCL INFO Channel {channel}/0 : {rank}[{gpu}] -> {rank}[{gpu}] via P2P/CUMEM/read
""",
    ),
    "nccl": (
        6,
        0,
        """
{host}:{pid}:{tid} [{gpu}] NCCL INFO NCCL_DEBUG set by environment to INFO
{host}:{pid}:{tid} [{gpu}] NCCL INFO Bootstrap : Using eth0:{ip}<0>
{host}:{pid}:{tid} [{gpu}] NCCL INFO NET/Plugin: Loaded net plugin Libfabric (v8)
{host}:{pid}:{tid} [{gpu}] NCCL INFO NET/OFI Initializing aws-ofi-nccl 1.9.1
{host}:{pid}:{tid} [{gpu}] NCCL INFO NET/OFI Using Libfabric version 1.20
{host}:{pid}:{tid} [{gpu}] NCCL INFO NET/OFI Selected Provider is efa (found 32 nics)
{host}:{pid}:{tid} [{gpu}] NCCL INFO Using network AWS Libfabric
{host}:{pid}:{tid} [{gpu}] NCCL INFO comm 0x{hex} rank {rank} nranks 128 cudaDev {gpu} nvmlDev {gpu} busId {hex} commId 0x{hex} - Init START
{host}:{pid}:{tid} [{gpu}] NCCL INFO comm 0x{hex} rank {rank} nRanks 128 nNodes 16 localRanks 8 localRank {gpu} MNNVL 0
{host}:{pid}:{tid} [{gpu}] NCCL INFO Setting affinity for GPU {gpu} to ffff,ffffffff
{host}:{pid}:{tid} [{gpu}] NCCL INFO NVLS multicast support is available on dev {gpu}
{host}:{pid}:{tid} [{gpu}] NCCL INFO Trees [0] {rank}/-1/-1->{rank}->{rank} [1] -1/-1/-1->{rank}->{rank} [2] {rank}/-1/-1->{rank}->-1
{host}:{pid}:{tid} [{gpu}] NCCL INFO P2P Chunksize set to 131072
{host}:{pid}:{tid} [{gpu}] NCCL INFO Connected all rings
{host}:{pid}:{tid} [{gpu}] NCCL INFO Connected all trees
{host}:{pid}:{tid} [{gpu}] NCCL INFO threadThresholds 8/8/64 | 1024/8/64 | 512 | 512
{host}:{pid}:{tid} [{gpu}] NCCL INFO 16 coll channels, 16 collnet channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer
{host}:{pid}:{tid} [{gpu}] NCCL INFO TUNER/Plugin: Failed to find ncclTunerPlugin_v3 symbol, using internal tuner instead
{host}:{pid}:{tid} [{gpu}] NCCL INFO ncclCommInitRank comm 0x{hex} rank {rank} nranks 128 cudaDev {gpu} nvmlDev {gpu} busId {hex} - Init COMPLETE
{host}:{pid}:{tid} [{gpu}] NCCL INFO RAS client listening socket at 127.0.0.1<28028>
NCCL version 2.21.5+cuda12.4
""",
    ),
    "progress": (
        34,
        66,
        """
[default{gpu}]:{stamp} - trainer.loop - INFO - step {step} | loss {small} | lr 3.00e-04 | grad_norm {small} | {count} tokens/s/gpu | mem {small} GiB
 iteration {step}/ 500000 | consumed samples: {count} | elapsed time per iteration (ms): {small} | learning rate: 2.997E-04 | global batch size: 1024 | lm loss: {small} | loss scale: 1.0 | grad norm: {small} | number of skipped iterations: 0 | number of nan iterations: 0 |
{iso} [INFO] Epoch {gpu}, Step {step}: train_loss={small}, throughput={small} samples/s, data_time={small}, forward_time={small}, backward_time={small}
{{'loss': {small}, 'grad_norm': {small}, 'learning_rate': 1.9e-05, 'epoch': {small}}}
Epoch {gpu}:  42%|####2     | {step}/120000 [1:02:11<1:25:50,  4.66it/s, v_num=3, train_loss_step={small}]
[{iso}][train][INFO] - global_step={step} loss={small} lr=0.0003 mfu={small} allocated={small}GB reserved={small}GB
[rank{rank}]: step {step} loss {small} accuracy {small} perplexity {small}
{stamp} {pid} INFO dataloader: worker {gpu} prefetched {count} samples from shard-{count}.tar in {small} s
(RayTrainWorker pid={pid}, ip={ip}) step {step}: loss {small} checkpoint pending
""",
    ),
    "launch": (
        6,
        0,
        """
W{glog} {pid} torch/distributed/run.py:793] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded, please further tune the variable for optimal performance in your application as needed.
I{glog} {pid} torch/distributed/launcher/api.py:188] Starting elastic_operator with launch configs:
I{glog} {pid} torch/distributed/elastic/agent/server/api.py:866] [default] starting workers for entrypoint: python
I{glog} {pid} torch/distributed/elastic/agent/server/api.py:525] [default] Rendezvous complete for workers. Result: restart_count=0 master_addr={host} master_port=29500 group_rank={rank} group_world_size=16
INFO:torch.distributed.elastic.multiprocessing.api:Starting 8 worker processes, local_ranks 0 to 7
[rank{rank}]:[W{glog} ProcessGroupNCCL.cpp:4115] [PG ID 0 PG GUID 0 Rank {rank}] using GPU {gpu} to perform barrier as devices used by this process are currently unknown.
[rank{rank}]:[I{glog} ProcessGroupNCCL.cpp:981] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] ProcessGroupNCCL initialization options: size: 128, global rank: {rank}, TIMEOUT(ms): 600000, USE_HIGH_PRIORITY_STREAM: 0, SPLIT_FROM: 0, SPLIT_COLOR: 0
[rank{rank}]:[I{glog} ProcessGroupNCCL.cpp:990] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] ProcessGroupNCCL environments: NCCL version: 2.21.5, TORCH_NCCL_ASYNC_ERROR_HANDLING: 1, TORCH_NCCL_ENABLE_TIMING: 0, TORCH_NCCL_BLOCKING_WAIT: 0, TORCH_DISTRIBUTED_DEBUG: OFF, TORCH_NCCL_DUMP_ON_TIMEOUT: 1, TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC: 480
[1,{rank}]<stdout>:[{host}:{pid}] MCW rank {rank} bound to socket 0[core {gpu}[hwt 0-1]]: [BB/../../../../../../..][../../../../../../../..]
[1,{rank}]<stderr>:Initializing distributed: backend=nccl init_method=env:// world_size=128 rank={rank} local_rank={gpu}
Initializing a V1 LLM engine with config: model='meta/llama', dtype=bfloat16, tensor_parallel_size=8, pipeline_parallel_size=1, device_config=cuda
[{stamp}] [INFO] [comm.py:652:init_distributed] cdb=None
[{stamp}] [INFO] [real_accelerator.py:222:get_accelerator] Setting ds_accelerator to cuda (auto detect)
[{stamp}] [INFO] [config.py:1003:print] DeepSpeedEngine configuration:
[{stamp}] [INFO] [stage_1_and_2.py:149:__init__] Reduce bucket size 500000000 CPU Offload: False Round robin gradient partitioning: False
""",
    ),
    "warnings": (
        6,
        1.5,
        """
/usr/local/lib/python3.10/dist-packages/torch/nn/modules/module.py:1518: UserWarning: Full backward hook is firing when gradients are computed with respect to module outputs
/opt/conda/lib/python3.11/site-packages/transformers/training_args.py:1568: FutureWarning: `evaluation_strategy` is deprecated and will be removed in version 4.46 of Transformers. Use `eval_strategy` instead
/opt/conda/lib/python3.11/site-packages/torch/distributed/checkpoint/filesystem.py:116: UserWarning: TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class.
  warnings.warn(
  return self.fget.__get__(instance, owner)()
WARNING: Logging before InitGoogleLogging() is written to STDERR
huggingface/tokenizers: The current process just got forked, after parallelism has already been used. Disabling parallelism to avoid deadlocks...
Some weights of LlamaForSequenceClassification were not initialized from the model checkpoint and are newly initialized: ['score.weight']
Token indices sequence length is longer than the specified maximum sequence length for this model ({count} > 4096).
[W{glog} Utils.hpp:106] Warning: Environment variable NCCL_BLOCKING_WAIT is deprecated; use TORCH_NCCL_BLOCKING_WAIT instead (function operator())
WARNING:root:Retrying request after timeout, attempt {gpu} of 5
{iso} WARNING storage.client connection reset, retrying in {small} seconds (request id {hex})
""",
    ),
    "traces": (
        3,
        0.05,
        """
Traceback (most recent call last):
  File "/usr/local/lib/python3.10/dist-packages/torch/nn/modules/module.py", line 1518, in _wrapped_call_impl
  File "/opt/conda/lib/python3.11/site-packages/requests/adapters.py", line 486, in send
  File "/workspace/train.py", line {step}, in main
    return self._call_impl(*args, **kwargs)
    result = future.result(timeout=self.timeout)
    output = model(input_ids, attention_mask=attention_mask)
    raise ConnectionError(err, request=request)
During handling of the above exception, another exception occurred:
The above exception was the direct cause of the following exception:
KeyError: 'optional_field'
ModuleNotFoundError: No module named 'flash_attn'
""",
    ),
    "cluster": (
        6,
        1.5,
        """
{iso} stderr F I{glog} {pid} reconciler.go:224] operationExecutor.VerifyControllerAttachedVolume started for volume kube-api-access-{hex} pod {host}
{iso} stdout F level=info ts={iso} caller=main.go:{gpu} msg="health probe ok" path=/healthz status=200 duration={small}ms
  Normal  Scheduled  3m    default-scheduler  Successfully assigned team-a/{host} to ip-10-0-3-17.ec2.internal
  Normal  Pulled     2m    kubelet            Container image "registry.example.com/train:24.05" already present on machine
  Normal  Created    2m    kubelet            Created container pytorch
  Normal  Started    2m    kubelet            Started container pytorch
Nov 30 20:15:{gpu}4 {host} kubelet[{pid}]: I{glog} {pid} prober.go:107] "Probe succeeded" probeType="Readiness" pod="team-a/{host}"
Nov 30 20:15:{gpu}4 {host} systemd[1]: Started Session {count} of user trainer.
Nov 30 20:15:{gpu}4 {host} kernel: [{count}.{pid}] nvidia-nvlink: Nvlink Core is being initialized, major device number 511
Nov 30 20:15:{gpu}4 {host} kernel: [{count}.{pid}] docker0: port {gpu}(veth{hex}) entered forwarding state
Nov 30 20:15:{gpu}4 {host} slurmd[{pid}]: launch task StepId={count}.0 request from UID:1000 GID:1000 HOST:{ip} PORT:{pid}
srun: Job {count} step creation still disabled, retrying (Requested nodes are busy)
{stamp} INFO wandb: Syncing run, offline sync interval {small}s, system metrics gpu.{gpu}.temp={small} gpu.{gpu}.memoryAllocated={small}
|   {gpu}  NVIDIA H100 80GB HBM3          On  |   00000000:{hex} Off |                    0 |
| N/A   34C    P0             122W /  700W |   {count}MiB /  81559MiB |     98%      Default |
""",
    ),
    "network": (
        4,
        1,
        """
libfabric:{pid}:{count}::core:core:fi_getinfo_():1373<info> Start querying available providers
libfabric:{pid}:{count}::efa:mr:efa_mr_reg_impl():912<info> Registered memory region at 0x{hex} of size {count}
libfabric:{pid}:{count}::core:core:ofi_register_provider():476<info> registering provider: efa (120.0)
[{count}.{pid}] [{host}:{pid}:0] ucp_worker.c:1888 UCX INFO ucp_context_0 intra-node cfg#{gpu} tag(sysv/memory cma/memory)
{host}:{pid}:{tid} [{gpu}] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:{ip}<0>
{stamp} DEBUG urllib3.connectionpool: https://storage.example.com:443 "GET /bucket/shard-{count}.tar HTTP/1.1" 206 {count}
{stamp} INFO botocore.credentials: Found credentials from IAM Role: training-node-role
{stamp} INFO fsspec: opened s3://bucket/checkpoints/step-{step}/rank-{rank}.pt size {count}
Saving checkpoint to /mnt/shared/checkpoints/step_{step}/mp_rank_{rank}_model_states.pt ... done in {small} seconds
successfully saved checkpoint at iteration {step} to /fsx/checkpoints
Loading checkpoint shards: 100%|##########| 8/8 [00:12<00:00,  1.52s/it]
""",
    ),
    "set-up": (
        5,
        0,
        """
Requirement already satisfied: torch=={gpu}.4.0 in /opt/conda/lib/python3.11/site-packages (from -r requirements.txt (line {gpu}))
Collecting accelerate>=0.30 (from -r requirements.txt (line {gpu}))
Successfully installed datasets-2.19.1 deepspeed-0.14.2 einops-0.8.0 flash-attn-2.5.8 sentencepiece-0.2.0
Setting up libnccl2 (2.21.5-1+cuda12.4) ...
Get:{gpu} http://archive.ubuntu.com/ubuntu jammy-updates/main amd64 Packages [2,031 kB]
LD_LIBRARY_PATH=/usr/local/nvidia/lib:/usr/local/nvidia/lib64:/opt/amazon/efa/lib:/opt/amazon/openmpi/lib:/usr/local/cuda/lib64
PATH=/opt/amazon/openmpi/bin:/opt/conda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
NCCL_SOCKET_IFNAME=eth0
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7
FI_PROVIDER=efa
HOSTNAME={host}
KUBERNETES_SERVICE_HOST=172.20.0.1
NVIDIA_VISIBLE_DEVICES=GPU-{hex}-{hex}
+ torchrun --nnodes 16 --nproc_per_node 8 --rdzv_backend c10d --rdzv_endpoint {host}:29500 train.py --config configs/llama.yaml
Namespace(model_name_or_path='meta/llama', per_device_train_batch_size=4, gradient_accumulation_steps=8, max_steps=500000, bf16=True, gradient_checkpointing=True, seed=42)
(2): LlamaDecoderLayer( (self_attn): LlamaSdpaAttention( (q_proj): Linear(in_features=4096, out_features=4096, bias=False)
        (input_layernorm): LlamaRMSNorm((4096,), eps=1e-05)
Downloading model-000{gpu}-of-00030.safetensors: 100%|##########| 4.58G/4.58G [00:41<00:00, 111MB/s]
Map (num_proc=16):  37%|###7      | {count}/1000000 [00:21<00:36, 17284.11 examples/s]
compiling kernel fused_layer_norm for arch sm_90, cache directory /root/.cache/torch_extensions/py311_cu124
""",
    ),
}

# Words that any log may hold, each taken to stand on a few lines of 200,000 though the templates have it seldom or never.
COMMON = """
abort aborted access address allocate allocated allocation application argument assertion available bytes cannot channel
check client close closed cluster code collective command connect connected connection container context could create
created data default device directory disk does driver during enabled engine environment error errors event exception
execution existing exit exited expected failed failure fatal fetch file files found from function global group handle
host hostname initialize initialized input instance internal invalid issue kernel killed launch launcher library limit
line list load local lock main master memory message missing mode module more name network node none number object
open operation option output parent path peer permission pipe pool port process processes program provider python queue
rank ranks read ready reason received region register remote request required resource response result return root run
runtime script send sent server service session set shared signal size socket source space stack start started state
status stop stopped storage stream support supported system task tensor terminate terminated terminating this thread
time timed timeout train training transport unable unexpected unknown user using usage value variable version wait
waiting warning watchdog while with without work worker workers write wrong rate this that will have been
"""
COMMON_COUNT = 6


class _Fields:
    """Fresh values for the holes of the templates."""

    def __init__(self, rng: random.Random) -> None:
        whole = rng.randrange
        self._values: dict[str, Callable[[], str]] = {
            "host": lambda: f"llama-ft-worker-{whole(16)}",
            "pid": lambda: str(whole(1000, 99_999)),
            "tid": lambda: str(whole(1000, 99_999)),
            "gpu": lambda: str(whole(8)),
            "rank": lambda: str(whole(128)),
            "channel": lambda: f"{whole(32):02d}",
            "step": lambda: str(whole(500_000)),
            "count": lambda: str(whole(10_000_000)),
            "small": lambda: f"{rng.random() * 20:.4f}",
            "hex": lambda: f"{whole(1 << 40):x}",
            "ip": lambda: f"10.0.{whole(16)}.{whole(256)}",
            "stamp": lambda: f"2026-11-30 2{whole(4)}:{whole(60):02d}:{whole(60):02d},{whole(1000):03d}",
            "iso": lambda: f"2026-11-30T2{whole(4)}:{whole(60):02d}:{whole(60):02d}.{whole(10**9):09d}Z",
            "glog": lambda: f"1130 2{whole(4)}:{whole(60):02d}:{whole(60):02d}.{whole(10**6):06d}",
        }

    def fill(self, template: list[tuple[str, str | None]]) -> str:
        return "".join(text + (self._values[name]() if name else "") for text, name in template)


def log_lines(count: int, seed: int = 1, *, running: bool = False) -> Iterator[str]:
    """Yield lines of a healthy job's log, without their line feeds; the same ones for the same seed."""
    rng = random.Random(seed)
    fields = _Fields(rng)
    parsed = {
        kind: [
            [(text, name) for text, name, _, _ in string.Formatter().parse(line)] for line in block[1:-1].split("\n")
        ]
        for kind, (_, _, block) in KINDS.items()
    }
    kinds, shares = list(KINDS), [each[1] if running else each[0] for each in KINDS.values()]
    for _ in range(count):
        yield fields.fill(rng.choice(parsed[rng.choices(kinds, shares)[0]]))


def count_words(lines: Iterator[str]) -> Counter[str]:
    """Return how many lines each word, and each two words in a row, stand on; in lower case, words as the literals of a
    signature are made of."""
    counts: Counter[str] = Counter()
    for line in lines:
        text = line.lower()
        counts.update(set(re.findall(r"[a-z0-9_./-]+", text)))
        counts.update(set(re.findall(r"(?<![a-z0-9_./-])(?=([a-z0-9_./-]+ [a-z0-9_./-]+))", text)))
    return counts


def write_table() -> None:
    counts = count_words(log_lines(LINES))
    for word in COMMON.split():
        counts[word] += COMMON_COUNT
    kept = {
        word: count * 1_000_000 // LINES
        for word, count in counts.items()
        if count >= (LEAST_PAIRS if " " in word else LEAST)
        and len(word) >= 4
        and sum(char.isalpha() for char in word) >= 2
        and not _is_varying(word)
    }
    head = (
        "# lines per million of an ordinary log that hold the word or the two words; made by benchmarks/reference.py\n"
    )
    rows = sorted(kept.items(), key=lambda item: (-item[1], item[0]))
    TABLE.write_text(head + "".join(f"{word} {count}\n" for word, count in rows), "utf-8")
    print(f"{len(rows)} words -> {TABLE}")


def _is_varying(word: str) -> bool:
    """Tell a word that is a hole's value: a number, an address, a host's name. Of two words, tell whether both are."""
    return all(re.fullmatch(r"[0-9a-fx.:-]+|[\d.]+[a-z]{2}|llama-ft-worker-\d+|rank\d+", one) for one in word.split())


if __name__ == "__main__":
    write_table()
