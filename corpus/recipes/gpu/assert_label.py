"""A class label is one too large, so the loss kernel asserts on the device.

Needs: one GPU. Run: python train.py
"""

import torch
from torch import nn
from trainlib import log, start_logging

start_logging()
model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(1, 101):
    images = torch.randn(64, 3, 32, 32, device="cuda")
    labels = torch.randint(0, 10, (64,), device="cuda")
    if step == 50:
        labels[5] = 10
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        log.info("step %d loss %.4f", step, loss.item())
