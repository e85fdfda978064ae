"""A training loop that calls a hand-written CUDA operator with a bug in it (fused_ops.cu).

Needs: GPUs and libfused_ops.so beside it. Run: torchrun --standalone --nproc-per-node 2 train.py {gather|scale|checked} [--evaluate]
With --evaluate the host does no CUDA call after the kernel, so that the process group's watchdog meets the error first.
"""

import argparse
import ctypes
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from trainlib import GPT, log, random_tokens, setup, train_step


class FusedOps:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)

    def _stream(self):
        return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def gather(self, table, index):
        out = torch.empty(index.numel(), table.shape[1], device=table.device)
        pointers = (ctypes.c_void_p(t.data_ptr()) for t in (table, index, out))
        self.lib.fused_gather(*pointers, index.numel(), table.shape[1], self._stream())
        return out

    def scale(self, x, function):
        out = torch.empty_like(x)
        pointers = (ctypes.c_void_p(t.data_ptr()) for t in (x, out))
        getattr(self.lib, function)(*pointers, x.numel(), self._stream())
        return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("op", choices=["gather", "scale", "checked"])
    parser.add_argument("--evaluate", action="store_true")
    args = parser.parse_args()
    rank, device = setup()
    ops = FusedOps("./libfused_ops.so")
    model = DistributedDataParallel(GPT().to(device), device_ids=[device.index])
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(1, 11):
        loss = train_step(model, optimizer, random_tokens(device))
        if step == 5 and rank == 1:
            if args.op == "gather":
                index = torch.arange(256, device=device)
                index[17] = 1 << 38
                extra = ops.gather(model.module.embed.weight.detach(), index)
            elif args.op == "scale":
                extra = ops.scale(torch.randn(4096, device=device), "fused_scale")
            else:
                x = torch.randn(4096, device=device)
                x[100] = -1e31
                extra = ops.scale(x, "fused_checked")
            if args.evaluate:
                dist.all_reduce(extra)
                time.sleep(30)
            else:
                loss = loss + extra.sum() * 0
        elif step == 5 and args.evaluate:
            dist.all_reduce(torch.zeros(256 * 256, device=device))
            time.sleep(30)
        log.info("step %d loss %.4f", step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
