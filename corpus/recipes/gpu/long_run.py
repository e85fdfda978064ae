"""Trains until it is stopped.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py (then send SIGTERM or SIGHUP to torchrun)
"""

import time

import torch
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, log, random_tokens, setup, train_step

rank, device = setup()
model = DistributedDataParallel(GPT().to(device), device_ids=[device.index])
optimizer = torch.optim.AdamW(model.parameters())
step = 0
while True:
    step += 1
    loss = train_step(model, optimizer, random_tokens(device))
    log.info("step %d loss %.4f", step, loss.item())
    time.sleep(1)
