"""Models that DDP refuses: a part without gradient, other shapes or another number of parameters on rank 1.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py {unused|shape|count|twice}
"""

import sys

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint
from trainlib import GPT, log, random_tokens, setup, train_step


class WithAuxiliaryHead(GPT):
    def __init__(self):
        super().__init__()
        self.auxiliary = nn.Linear(256, 2)


class Checkpointed(GPT):
    def forward(self, tokens):
        x = self.embed(tokens)
        for _ in range(2):
            x = checkpoint(self.blocks[0], x, use_reentrant=True)
        return self.head(self.norm(x))


def build(case, rank):
    if case == "unused":
        return WithAuxiliaryHead()
    if case == "shape":
        return GPT(vocab=32000 if rank == 0 else 32064)
    if case == "twice":
        return Checkpointed(layers=1)
    return GPT(layers=2 if rank == 0 else 3)


rank, device = setup(timeout_s=15)
model = DistributedDataParallel(build(sys.argv[1], rank).to(device), device_ids=[device.index])
optimizer = torch.optim.AdamW(model.parameters())
for step in range(1, 4):
    loss = train_step(model, optimizer, random_tokens(device))
    log.info("step %d loss %.4f", step, loss.item())
