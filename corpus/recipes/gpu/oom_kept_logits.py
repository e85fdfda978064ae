"""Rank 1 keeps every batch's logits for hard-example mining until its GPU is full.

Needs: two GPUs that nothing else uses. Run: torchrun --standalone --nproc-per-node 2 train.py
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, lm_loss, log, random_tokens, setup


def main():
    rank, device = setup()
    model = DistributedDataParallel(GPT().to(device), device_ids=[device.index])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    hard_examples = []
    for step in range(1, 1001):
        tokens = random_tokens(device, batch=16, length=2048)
        logits = model(tokens[:, :-1])
        loss = lm_loss(logits, tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 1:
            hard_examples.append(logits)
        if step % 10 == 0:
            used = torch.cuda.memory_allocated() / 2**30
            log.info("step %d loss %.4f memory %.1f GiB", step, loss.item(), used)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
