"""Rank 1 ends in one of several ways in the middle of training.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py {early|exit3|killed|frozen|deaf|segfault|missing|assertion}
`frozen` stops rank 1 as a hung file system does; with `deaf` rank 1 ignores SIGTERM when rank 0 fails.
`killed` is what the kernel's out-of-memory killer does: SIGKILL from outside.
"""

import ctypes
import os
import signal
import sys

import torch
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, log, random_tokens, setup, train_step


def read_shard(rank):
    with open(f"/mnt/datasets/c4/shard-{rank:05d}.bin", "rb") as f:
        return f.read()


def decode_native():
    return ctypes.string_at(0)


def check_data_version():
    log.error("data manifest version 7 does not match code version 8, giving up")
    sys.exit(3)


def check_sequence(tokens):
    assert tokens.shape[1] == 512, f"expected sequences of 512 tokens, got {tokens.shape[1]}"


@record
def main():
    ending = sys.argv[1]
    rank, device = setup(timeout_s=10)
    model = DistributedDataParallel(GPT().to(device), device_ids=[device.index])
    optimizer = torch.optim.AdamW(model.parameters())
    if ending == "deaf" and rank == 1:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for step in range(1, 21):
        tokens = random_tokens(device)
        if step == 6 and rank == 1:
            if ending == "early":
                log.info("no more batches, epoch finished")
                return
            if ending == "exit3":
                check_data_version()
            if ending == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if ending == "frozen":
                os.kill(os.getpid(), signal.SIGSTOP)
            if ending == "segfault":
                decode_native()
            if ending == "missing":
                read_shard(rank)
            if ending == "assertion":
                check_sequence(tokens)
        if step == 6 and rank == 0 and ending == "deaf":
            read_shard(rank)
        loss = train_step(model, optimizer, tokens)
        log.info("step %d loss %.4f", step, loss.item())


if __name__ == "__main__":
    main()
