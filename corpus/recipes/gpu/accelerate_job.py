"""Accelerate: a healthy run, or one whose batch-size search ends at zero.

Needs: two GPUs, accelerate. Run: accelerate launch --multi_gpu --num_processes 2 --mixed_precision bf16 train.py {healthy|batch}
"""

import sys

import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size
from torch.utils.data import DataLoader, TensorDataset
from trainlib import GPT, VOCAB, lm_loss


def main():
    accelerator = Accelerator()

    @find_executable_batch_size(starting_batch_size=64)
    def train(batch_size):
        accelerator.print(f"trying batch size {batch_size}")
        if sys.argv[1] == "batch":
            torch.empty(batch_size << 40, dtype=torch.uint8, device=accelerator.device)
        model = GPT()
        optimizer = torch.optim.AdamW(model.parameters())
        data = DataLoader(TensorDataset(torch.randint(0, VOCAB, (1024, 129))), batch_size=batch_size)
        model, optimizer, data = accelerator.prepare(model, optimizer, data)
        for step, (tokens,) in enumerate(data, 1):
            loss = lm_loss(model(tokens[:, :-1]), tokens)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            accelerator.print(f"step {step} loss {loss.item():.4f}")

    train()
    accelerator.end_training()


if __name__ == "__main__":
    main()
