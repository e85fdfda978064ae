"""FSDP runs: a healthy one with a checkpoint, and several faults.

Needs: two GPUs. Run: torchrun --standalone --nproc-per-node 2 train.py {healthy|mixed|mismatch|rank0|nometa|newkey}
"""

import os
import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from trainlib import GPT, log, random_tokens, setup, train_step


def shard(model):
    for block in model.blocks:
        fully_shard(block)
    fully_shard(model)
    return model


def train(model, device, steps=5):
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(1, steps + 1):
        loss = train_step(model, optimizer, random_tokens(device))
        log.info("step %d loss %.4f", step, loss.item())


def wrap_with_adapter(device):
    model = GPT().to(device, torch.bfloat16)
    model.adapter = torch.nn.Linear(256, 8, device=device)
    return FullyShardedDataParallel(model, device_id=device)


def validate(model, device):
    with torch.no_grad():
        return model(random_tokens(device)).float().mean().item()


def main():
    case = sys.argv[1]
    rank, device = setup(timeout_s=10)
    if case == "mixed":
        wrap_with_adapter(device)
    if case == "mismatch":
        FullyShardedDataParallel(GPT(), device_id=device)
        state = GPT(width=384).state_dict()
        GPT().load_state_dict(state)
    model = shard(GPT().to(device))
    train(model, device)
    if case == "rank0":
        if rank == 0:
            log.info("validation score %.4f", validate(model, device))
        dist.barrier()
    folder = "checkpoints/step-5"
    if case != "nometa":
        dcp.save(get_model_state_dict(model), checkpoint_id=folder)
        log.info("saved %s", folder)
    else:
        os.makedirs(folder, exist_ok=True)
    fresh = shard(GPT(layers=3 if case == "newkey" else 2).to(device))
    state = get_model_state_dict(fresh)
    log.info("loading %s", folder)
    dcp.load(state, checkpoint_id=folder)
    set_model_state_dict(fresh, state)
    train(fresh, device, steps=2)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
