"""A monitored barrier names the rank that did not come.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py
"""

import datetime
import time

import torch.distributed as dist
from trainlib import log, setup

rank, device = setup(timeout_s=30)
group = dist.new_group(backend="gloo")
log.info("entering the barrier before the checkpoint")
if rank == 1:
    time.sleep(40)
dist.monitored_barrier(group, timeout=datetime.timedelta(seconds=5), wait_all_ranks=True)
log.info("past the barrier")
