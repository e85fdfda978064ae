"""The ranks call different collectives, or the same one with different sizes.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py {operation|size|large|count}
"""

import sys

import torch
import torch.distributed as dist
from trainlib import log, setup


def share_metrics(rank, device):
    metrics = torch.ones(1 << 20, device=device)
    if rank == 0:
        dist.all_reduce(metrics)
    else:
        dist.broadcast(metrics, src=0)


def share_embedding(rank, device):
    # Rank 1 padded its vocabulary to a multiple of 64.
    gradient = torch.ones(50257 if rank == 0 else 50304, 64, device=device)
    dist.all_reduce(gradient)


def share_activations(rank, device):
    # Rank 1 works on a batch sixteen times as large.
    dist.all_reduce(torch.ones((1 if rank == 0 else 16) << 20, device=device))


def validate(rank, device):
    if rank == 0:
        dist.all_reduce(torch.ones(1, device=device))
        log.info("validation loss shared")


def main():
    rank, device = setup(timeout_s=10)
    gradients = torch.ones(1 << 20, device=device)
    for step in range(1, 6):
        dist.all_reduce(gradients)
        log.info("step %d", step)
    share = {"operation": share_metrics, "size": share_embedding, "large": share_activations, "count": validate}
    share[sys.argv[1]](rank, device)
    for step in range(6, 9):
        dist.all_gather_into_tensor(torch.empty(2 << 20, device=device), gradients)
        torch.cuda.synchronize()
        log.info("step %d", step)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
