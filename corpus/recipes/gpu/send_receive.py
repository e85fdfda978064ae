"""Rank 0 sends a larger tensor than rank 1 expects.

Needs: two GPUs that NCCL takes for two hosts. Run: as two_nodes in run_all.sh does
"""

import torch
import torch.distributed as dist
from trainlib import log, setup

rank, device = setup(timeout_s=10)
dist.all_reduce(torch.ones(8, device=device))
activations = torch.ones((4096 if rank == 0 else 1024) * 64, device=device)
if rank == 0:
    dist.send(activations, dst=1)
else:
    dist.recv(activations, src=0)
torch.cuda.synchronize()
log.info("activations passed on")
dist.all_reduce(torch.ones(8, device=device))
torch.cuda.synchronize()
dist.destroy_process_group()
