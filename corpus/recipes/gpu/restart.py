"""The first attempt fails on a stale file handle and the launcher restarts the workers.

With `eager` the communicator is made in init_process_group, with `late` in the first collective. Either way the next
attempt can find the dead attempt's NCCL id in the store and be refused; here `late` got over it and `eager` did not.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 --max-restarts 2 train.py {eager|late}
"""

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, log, random_tokens, setup, train_step


def read_batch(step, rank):
    if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0" and step == 4 and rank == 1:
        raise OSError(116, "Stale file handle", "/mnt/datasets/c4/shard-00001.bin")


def main():
    rank, device = setup(timeout_s=10, bind=sys.argv[1] == "eager")
    model = DistributedDataParallel(GPT().to(device), device_ids=[device.index])
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(1, 11):
        read_batch(step, rank)
        loss = train_step(model, optimizer, random_tokens(device))
        log.info("step %d loss %.4f", step, loss.item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
