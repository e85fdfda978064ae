"""Checkpoint files that cannot be read or written.

Needs: one GPU, the safetensors package. Run: torchrun --standalone --nproc-per-node 1 train.py {truncated|pointer|namespace|full|safetensors}
`full` expects a small file system at ./checkpoints.
"""

import argparse
import os
import sys

import torch
from safetensors.torch import load_file, save_file
from trainlib import GPT, log, setup


def save(model, path, **more):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    torch.save({"model": model.state_dict(), **more}, path)
    log.info("saved %s (%d bytes)", path, os.path.getsize(path))


def resume(model, path):
    log.info("resuming from %s", path)
    state = torch.load(path, map_location="cuda")
    model.load_state_dict(state["model"])


def main():
    case = sys.argv[1]
    rank, device = setup()
    model = GPT().to(device)
    path = "checkpoints/step-1000.pt"
    if case == "pointer":
        os.makedirs("checkpoints", exist_ok=True)
        with open(path, "w") as f:
            f.write("version https://git-lfs.github.com/spec/v1\n")
            f.write("oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 67123456\n")
    elif case == "namespace":
        save(model, path, args=argparse.Namespace(lr=3e-4, warmup=2000))
    else:
        save(model, path)
    if case == "safetensors":
        path = "checkpoints/model.safetensors"
        save_file(model.state_dict(), path)
        os.truncate(path, os.path.getsize(path) // 2)
        log.info("resuming from %s", path)
        model.load_state_dict(load_file(path))
    if case == "truncated":
        os.truncate(path, os.path.getsize(path) // 2)
    resume(model, path)


if __name__ == "__main__":
    main()
