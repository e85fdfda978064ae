"""Prints the job's NCCL, CUDA and rendezvous variables, then trains a few steps.

Needs: two GPUs. Run: NCCL_INFO=DEBUG torchrun --standalone --nproc-per-node 2 train.py
"""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, log, random_tokens, setup, train_step

rank, device = setup()
if rank == 0:
    print("==== environment ====", flush=True)
    for name in sorted(os.environ):
        if name.startswith(("NCCL_", "MASTER_", "WORLD_", "LOCAL_", "CUDA_VISIBLE", "OMP_", "TORCHELASTIC_RUN")):
            print(f"{name}={os.environ[name]}", flush=True)
    print("=====================", flush=True)
model = DistributedDataParallel(GPT().to(device), device_ids=[device.index])
optimizer = torch.optim.AdamW(model.parameters())
for step in range(1, 6):
    loss = train_step(model, optimizer, random_tokens(device))
    log.info("step %d loss %.4f", step, loss.item())
dist.destroy_process_group()
