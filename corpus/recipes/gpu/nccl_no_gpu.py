"""Joins an NCCL process group without looking for a GPU first.

Needs: torch with NCCL. Run: CUDA_VISIBLE_DEVICES= torchrun --standalone --nproc-per-node 2 train.py
"""

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
print(f"rank {dist.get_rank()}: {torch.cuda.device_count()} GPUs", flush=True)
dist.barrier()
