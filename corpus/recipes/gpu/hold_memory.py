"""Stands for a stale process: fills most of GPU 0, writes `held`, and sleeps.

Needs: one GPU. Run: python hold_memory.py & (the driver runs it beside another recipe)
"""

import pathlib
import time

import torch

free, _ = torch.cuda.mem_get_info(0)
block = torch.empty(free - 3 * 2**30, dtype=torch.uint8, device="cuda:0")
pathlib.Path("held").touch()
time.sleep(45)
