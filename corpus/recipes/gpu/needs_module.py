"""Imports a package that the image does not hold.

Needs: torch. Run: torchrun --standalone --nproc-per-node 2 train.py
"""

import torch
from flash_attn import flash_attn_func

print(torch.__version__, flash_attn_func)
