"""Rank 1 is stuck reading its next shard while rank 0 waits in the gradient all-reduce until the watchdog acts.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py
"""

import time

import torch
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, log, random_tokens, setup, train_step


def load_next_shard(rank):
    log.info("reading shard %05d from /mnt/datasets/c4", rank)
    if rank == 1:
        time.sleep(300)


def main():
    rank, device = setup(timeout_s=10)
    model = DistributedDataParallel(GPT().to(device), device_ids=[device.index])
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(1, 21):
        if step == 8:
            load_next_shard(rank)
        loss = train_step(model, optimizer, random_tokens(device))
        log.info("step %d loss %.4f", step, loss.item())


if __name__ == "__main__":
    main()
