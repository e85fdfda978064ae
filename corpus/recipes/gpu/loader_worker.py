"""A DataLoader worker is killed, crashes, hangs or uses CUDA; or shared memory or file descriptors run out.

Needs: one GPU. Run: torchrun --standalone --nproc-per-node 1 train.py {killed|segfault|slow|cuda|large|many}
"""

import ctypes
import os
import signal
import sys
import time

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
        if i == 640 and self.ending == "slow":
            time.sleep(60)
        image = torch.rand(3, 224, 224)
        return image.cuda() if self.ending == "cuda" else image


def main():
    rank, device = setup()
    case = sys.argv[1]
    timeout_s = 8 if case == "slow" else 0
    collate = list if case == "many" else None
    loader = DataLoader(Images(case), batch_size=64, num_workers=2, timeout=timeout_s, collate_fn=collate)
    for step, images in enumerate(loader, 1):
        if case == "many":
            images = torch.stack(images)
        mean = images.to(device).mean().item()
        log.info("step %d mean %.4f", step, mean)


if __name__ == "__main__":
    main()
