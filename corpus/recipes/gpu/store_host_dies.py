"""Two processes without torchrun: rank 0, which hosts the TCPStore, fails on bad input; rank 1 loses the store.

Needs: two GPUs. Run for R in 0 1: MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 WORLD_SIZE=2 RANK=$R LOCAL_RANK=$R python train.py
"""

import json

import torch
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, log, random_tokens, setup, train_step


def parse_manifest(text):
    return json.loads(text)["shards"]


def main():
    rank, device = setup(timeout_s=15)
    model = DistributedDataParallel(GPT().to(device), device_ids=[device.index])
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(1, 21):
        if step == 6 and rank == 0:
            parse_manifest('{"shards": ["c4-00000", "c4-00001"')
        loss = train_step(model, optimizer, random_tokens(device))
        log.info("step %d loss %.4f", step, loss.item())


if __name__ == "__main__":
    main()
