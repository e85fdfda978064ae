"""A DDP run that ends well but does not name its device and never destroys the process group: warnings only.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, log, random_tokens, setup, train_step

rank, device = setup(bind=False)
dist.barrier()
model = DistributedDataParallel(GPT().to(device), device_ids=[device.index])
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
scaler = torch.cuda.amp.GradScaler(enabled=False)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
scheduler.step()
for step in range(1, 11):
    with torch.cuda.amp.autocast(dtype=torch.bfloat16):
        loss = train_step(model, optimizer, random_tokens(device))
log.info("final loss %.4f", loss.item())
dist.barrier()
log.info("done")
