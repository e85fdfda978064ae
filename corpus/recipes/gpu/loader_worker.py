"""A DataLoader worker is killed, crashes, or uses CUDA; or /dev/shm is too small for its batches.

Needs: one GPU. Run: torchrun --standalone --nproc-per-node 1 train.py {killed|segfault|cuda|large}
"""

import ctypes
import os
import signal
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from trainlib import log, setup


class Images(Dataset):
    def __init__(self, ending):
        self.ending = ending

    def __len__(self):
        return 4096

    def __getitem__(self, i):
        if i == 640 and self.ending == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if i == 640 and self.ending == "segfault":
            return ctypes.string_at(0)
        image = torch.rand(3, 224, 224)
        return image.cuda() if self.ending == "cuda" else image


def main():
    rank, device = setup()
    loader = DataLoader(Images(sys.argv[1]), batch_size=64, num_workers=2)
    for step, images in enumerate(loader, 1):
        mean = images.to(device).mean().item()
        log.info("step %d mean %.4f", step, mean)


if __name__ == "__main__":
    main()
