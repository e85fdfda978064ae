"""Every rank builds a model that is larger than its GPU.

Needs: two GPUs that nothing else uses. Run: torchrun --standalone --nproc-per-node 2 train.py
"""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from trainlib import log, setup


class WideModel(nn.Module):
    def __init__(self, width, layers, device):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(layers):
            self.layers.append(nn.Linear(width, width, bias=False, device=device, dtype=torch.bfloat16))


rank, device = setup()
log.info("building model: width 32768, 128 layers, bfloat16")
model = WideModel(32768, 128, device)
model = DistributedDataParallel(model, device_ids=[device.index])
