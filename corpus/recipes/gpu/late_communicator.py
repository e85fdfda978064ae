"""Rank 1 never reaches the first collective, so rank 0 waits inside NCCL's start-up, where no watchdog looks.

Needs: two GPUs. Run: NCCL_DEBUG=INFO torchrun --standalone --nproc-per-node 2 train.py (then stop it)
"""

import time

import torch
import torch.distributed as dist
from trainlib import log, setup

rank, device = setup(timeout_s=600, bind=False)
if rank == 1:
    log.info("unpacking /mnt/datasets/c4.tar")
    time.sleep(300)
dist.all_reduce(torch.ones(1, device=device))
log.info("first all_reduce done")
