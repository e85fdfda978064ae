"""One token id equals the vocabulary size, so the embedding kernel asserts on the device.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py
"""

import torch
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, log, random_tokens, setup, train_step

rank, device = setup()
model = DistributedDataParallel(GPT().to(device), device_ids=[device.index])
optimizer = torch.optim.AdamW(model.parameters())
for step in range(1, 11):
    tokens = random_tokens(device)
    if step == 4 and rank == 0:
        tokens[1, 7] = 32000
    loss = train_step(model, optimizer, tokens)
    log.info("step %d loss %.4f", step, loss.item())
