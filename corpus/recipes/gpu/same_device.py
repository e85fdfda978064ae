"""Both ranks use GPU 0.

Needs: one GPU or more. Run: torchrun --standalone --nproc-per-node 2 train.py
"""

import datetime

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, log, start_logging

start_logging()
torch.cuda.set_device(0)
dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=20))
log.info("rank %d of %d on cuda:%d", dist.get_rank(), dist.get_world_size(), torch.cuda.current_device())
model = DistributedDataParallel(GPT().cuda(), device_ids=[0])
