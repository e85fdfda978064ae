"""A script written for the old launcher: it takes --local_rank, and the launcher passes --local-rank.

Needs: torch. Run: python -m torch.distributed.launch --nproc-per-node 2 train.py
"""

import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int)
parser.add_argument("--lr", type=float, default=3e-4)
args = parser.parse_args()
print(f"local rank {args.local_rank}", flush=True)
