"""What the training recipes of this folder share: start-up, a small GPT, one training step.

Needs: torch with CUDA. `run_all.sh` puts a copy beside each `train.py`; it is not run alone.
"""

import datetime
import logging
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional

VOCAB = 32000
log = logging.getLogger("train")


def start_logging():
    rank = os.environ.get("RANK", "0")
    form = f"%(asctime)s [rank {rank}] %(levelname)s %(message)s"
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format=form)


def setup(timeout_s=20, bind=True, backend="nccl"):
    """Join the process group and return (rank, device)."""
    start_logging()
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    device = torch.device("cuda", local_rank)
    dist.init_process_group(
        backend,
        timeout=datetime.timedelta(seconds=timeout_s),
        device_id=device if bind else None,
    )
    log.info("world size %d, device %s (%s)", dist.get_world_size(), device, torch.cuda.get_device_name(device))
    return dist.get_rank(), device


class Block(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, dim=-1))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, width=256, layers=2, vocab=VOCAB):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def random_tokens(device, batch=4, length=256, vocab=VOCAB):
    return torch.randint(0, vocab, (batch, length + 1), device=device)


def lm_loss(logits, tokens):
    return functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def train_step(model, optimizer, tokens):
    loss = lm_loss(model(tokens[:, :-1]), tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
