"""A cache takes the whole GPU before NCCL makes its communicator.

Needs: two GPUs that nothing else uses. Run: torchrun --standalone --nproc-per-node 2 train.py
"""

import torch
import torch.distributed as dist
from trainlib import log, setup


def fill_device(step_mib):
    blocks = []
    while step_mib >= 2:
        try:
            blocks.append(torch.empty(step_mib * 2**20, dtype=torch.uint8, device="cuda"))
        except torch.OutOfMemoryError:
            step_mib //= 2
    return blocks


rank, device = setup(bind=False)
counter = torch.ones(1024, device=device)
cache = fill_device(8192)
log.info(
    "activation cache: %.1f GiB, free: %d MiB",
    torch.cuda.memory_allocated() / 2**30,
    torch.cuda.mem_get_info()[0] // 2**20,
)
dist.all_reduce(counter)
torch.cuda.synchronize()
log.info("sum %s", counter[0].item())
