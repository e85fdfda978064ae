"""A worker process is forked after CUDA was initialised.

Needs: one GPU. Run: python train.py
"""

import multiprocessing

import torch
from trainlib import log, start_logging


def evaluate(queue):
    weights = torch.ones(8, device="cuda")
    queue.put(weights.sum().item())


start_logging()
log.info("device %s", torch.cuda.get_device_name(0))
torch.ones(8, device="cuda")
context = multiprocessing.get_context("fork")
queue = context.Queue()
worker = context.Process(target=evaluate, args=(queue,))
worker.start()
worker.join()
log.info("evaluation worker ended with exit code %d", worker.exitcode)
log.info("score %.1f", queue.get(timeout=5))
