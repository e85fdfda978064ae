"""The process may use a tenth of the GPU only, and the model needs more.

Needs: one GPU. Run: torchrun --standalone --nproc-per-node 1 train.py
"""

import torch
from trainlib import log, setup

rank, device = setup()
torch.cuda.set_per_process_memory_fraction(0.1, device)
layers = []
for n in range(32):
    layers.append(torch.nn.Linear(16384, 16384, device=device))
    log.info("layer %d, %.1f GiB", n, torch.cuda.memory_allocated() / 2**30)
