"""A gradient with NaN goes into an all-reduce while TORCH_NCCL_NAN_CHECK=1 looks at every input.

Needs: two GPUs. Run: TORCH_NCCL_NAN_CHECK=1 torchrun --standalone --nproc-per-node 2 train.py
"""

import torch
import torch.distributed as dist
from trainlib import log, setup

rank, device = setup(timeout_s=15)
gradients = torch.randn(4096, device=device)
dist.all_reduce(gradients)
log.info("step 1 done")
if rank == 1:
    gradients[12] = float("nan")
dist.all_reduce(gradients)
torch.cuda.synchronize()
log.info("step 2 done")
