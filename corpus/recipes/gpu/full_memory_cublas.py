"""A cache takes the whole GPU before the first matrix product makes its cuBLAS handle.

Needs: one GPU that nothing else uses. Run: python train.py
"""

import torch
from trainlib import log, start_logging


def fill_device(step_mib):
    blocks = []
    while step_mib >= 2:
        try:
            blocks.append(torch.empty(step_mib * 2**20, dtype=torch.uint8, device="cuda"))
        except torch.OutOfMemoryError:
            step_mib //= 2
    return blocks


start_logging()
x = torch.randn(64, 64, device="cuda")
y = torch.empty(64, 64, device="cuda")
cache = fill_device(8192)
log.info(
    "kv cache: %.1f GiB, free: %d MiB", torch.cuda.memory_allocated() / 2**30, torch.cuda.mem_get_info()[0] // 2**20
)
torch.mm(x, x, out=y)
log.info("sum %.3f", y.sum().item())
