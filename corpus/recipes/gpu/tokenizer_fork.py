"""A healthy run in which a tokenizer is used before DataLoader workers fork: a warning and nothing more.

Needs: one GPU, the tokenizers package. Run: python train.py
"""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader
from trainlib import log, start_logging

start_logging()
words = ["the", "loss", "went", "down", "and", "nobody", "complained"]
tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="the"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
lines = [" ".join(words)] * 64
tokenizer.encode_batch(lines)


def collate(batch):
    return torch.tensor([encoding.ids for encoding in tokenizer.encode_batch(batch)])


for step, batch in enumerate(DataLoader(lines, batch_size=16, collate_fn=collate, num_workers=2), 1):
    log.info("step %d tokens %d", step, batch.cuda().numel())
