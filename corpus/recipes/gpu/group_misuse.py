"""The process group is used after it was destroyed, or initialised twice.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py {after|twice}
"""

import sys

import torch
import torch.distributed as dist
from trainlib import log, setup

rank, device = setup()
dist.all_reduce(torch.ones(8, device=device))
log.info("training finished")
if sys.argv[1] == "twice":
    dist.init_process_group("nccl")
dist.destroy_process_group()
dist.all_reduce(torch.ones(8, device=device))
