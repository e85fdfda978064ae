"""transformers' Trainer with a small GPT-2 made from scratch: healthy, without labels, or asking a hub that is out of reach.

Needs: two GPUs, transformers, accelerate. Run: torchrun --standalone --nproc-per-node 2 train.py {healthy|nolabels|offline}
"""

import sys

import torch
from torch.utils.data import Dataset
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Tokens(Dataset):
    def __init__(self, labels):
        self.labels = labels

    def __len__(self):
        return 256

    def __getitem__(self, i):
        ids = torch.randint(0, 1000, (64,), generator=torch.Generator().manual_seed(i))
        return {"input_ids": ids, "labels": ids} if self.labels else {"input_ids": ids}


def main():
    case = sys.argv[1]
    if case == "offline":
        model = AutoModelForCausalLM.from_pretrained("example-lab/base-7b")
    else:
        model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=64, n_embd=64, n_layer=2, n_head=2))
    arguments = TrainingArguments(
        output_dir="out", per_device_train_batch_size=8, max_steps=20, logging_steps=5, bf16=True, report_to="none"
    )
    Trainer(model=model, args=arguments, train_dataset=Tokens(labels=case == "healthy")).train()


if __name__ == "__main__":
    main()
