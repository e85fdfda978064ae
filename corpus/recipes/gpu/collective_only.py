"""One all-reduce and one all-gather after start-up, for faults that NCCL meets by itself.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py
"""

import torch
import torch.distributed as dist
from trainlib import log, setup


def main():
    rank, device = setup()
    x = torch.full((1 << 20,), float(rank + 1), device=device)
    dist.all_reduce(x)
    log.info("all_reduce gives %.1f", x[0].item())
    out = torch.empty(dist.get_world_size(), 1024, device=device)
    dist.all_gather_into_tensor(out, x[:1024].contiguous())
    log.info("all_gather gives %s", out[:, 0].tolist())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
