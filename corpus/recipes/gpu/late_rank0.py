"""Rank 0 prepares the data set while rank 1 already waits for the first collective.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py
"""

import time

import torch.distributed as dist
from trainlib import log, setup

rank, device = setup(timeout_s=10, bind=False)
if rank == 0:
    log.info("tokenising /mnt/datasets/c4 (only on rank 0)")
    time.sleep(60)
dist.barrier(device_ids=[device.index])
log.info("data set is ready")
