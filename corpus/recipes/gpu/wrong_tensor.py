"""Tensors that NCCL or a kernel cannot take: on the CPU, of an unsupported type, on two devices, of two types.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py {cpu|type|device|dtype|shape}
"""

import sys

import torch
import torch.distributed as dist
from trainlib import GPT, log, random_tokens, setup


def average_metrics(metrics):
    dist.all_reduce(metrics)
    return metrics / dist.get_world_size()


rank, device = setup()
case = sys.argv[1]
if case == "cpu":
    metrics = torch.tensor([1.5, 0.25])
    log.info("metrics %s", average_metrics(metrics))
elif case == "type":
    counts = torch.ones(16, dtype=torch.int16, device=device)
    log.info("counts %s", average_metrics(counts))
elif case == "device":
    model = GPT().to(device)
    logits = model(random_tokens("cpu"))
elif case == "dtype":
    model = GPT().to(device, torch.bfloat16)
    hidden = torch.randn(4, 16, 256, device=device)
    logits = model.head(hidden)
elif case == "shape":
    model = GPT().to(device)
    hidden = torch.randn(4, 16, 512, device=device)
    logits = model.head(hidden)
