"""A short DDP pre-training run that ends well.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, log, random_tokens, setup, train_step


def main():
    rank, device = setup()
    model = DistributedDataParallel(GPT().to(device), device_ids=[device.index])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(1, 21):
        loss = train_step(model, optimizer, random_tokens(device))
        if step % 5 == 0:
            log.info("step %d loss %.4f", step, loss.item())
    dist.barrier()
    log.info("training finished")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
