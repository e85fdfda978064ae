"""The loss becomes NaN and the trainer gives up; or the fp16 loss scale overflows a few times, which is normal.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py {abort|scale}
"""

import math
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, lm_loss, log, random_tokens, setup

case = sys.argv[1]
rank, device = setup()
model = DistributedDataParallel(GPT().to(device), device_ids=[device.index])
optimizer = torch.optim.SGD(model.parameters(), lr=300.0 if case == "abort" else 0.1)
scaler = torch.amp.GradScaler("cuda", init_scale=2.0**30 if case == "scale" else 1.0, enabled=case == "scale")
for step in range(1, 41):
    tokens = random_tokens(device)
    with torch.autocast("cuda", dtype=torch.float16, enabled=case == "scale"):
        loss = lm_loss(model(tokens[:, :-1]), tokens)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0 if case == "scale" else 1e9)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() < before:
        log.warning("step %d gradient overflow, skipping step, loss scale %g -> %g", step, before, scaler.get_scale())
    log.info("step %d loss: %.4f grad_norm: %.3f", step, loss.item(), norm.item())
    if math.isnan(loss.item()):
        raise FloatingPointError(f"loss is nan at step {step}, stopping training")
dist.destroy_process_group()
