"""torch.compile on a machine whose C compiler is missing.

Needs: one GPU, torch with Triton. Run: CC=/usr/bin/gcc-12-missing TRITON_CACHE_DIR=$(mktemp -d) python train.py
"""

import torch
from trainlib import GPT, lm_loss, log, random_tokens, start_logging

start_logging()
model = torch.compile(GPT().cuda())
tokens = random_tokens("cuda")
loss = lm_loss(model(tokens[:, :-1]), tokens)
log.info("loss %.4f", loss.item())
