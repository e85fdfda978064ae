"""Batches of very different lengths cut the allocator's segments to pieces: much is reserved, little is usable.

Needs: one GPU that nothing else uses. Run: torchrun --standalone --nproc-per-node 1 train.py
"""

import torch
from trainlib import log, setup

MIB = 2**20


def buffer(mib):
    return torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")


def main():
    setup()
    free, _ = torch.cuda.mem_get_info()
    segments = free // (2048 * MIB) - 1
    long_batches = [buffer(2048) for _ in range(segments)]
    log.info("warm-up with the longest sequences done, %.1f GiB reserved", torch.cuda.memory_reserved() / 2**30)
    del long_batches
    activations = [buffer(500) for _ in range(segments * 4)]
    cache = activations[::4]
    del activations
    log.info(
        "allocated %.1f GiB, reserved %.1f GiB",
        torch.cuda.memory_allocated() / 2**30,
        torch.cuda.memory_reserved() / 2**30,
    )
    logits = buffer(6144)
    log.info("logits %d bytes, cache of %d buffers", logits.numel(), len(cache))


if __name__ == "__main__":
    main()
