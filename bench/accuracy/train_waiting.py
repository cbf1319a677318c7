#!/usr/bin/env python3
"""Training on devices for which their host waits, as it does for accelerators: DDP whose layers take what KERNEL_MS says.

A layer's kernel takes as long on every machine, whatever else runs there; what the host does for it (loading, sending, the
optimizer's step) is real. Backward takes twice as long as forward.
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from train import CLASSES, Pictures

WIDTH, LAYERS = 512, 8
KERNEL_S = float(os.environ["KERNEL_MS"]) / 1e3


class Kernel(torch.autograd.Function):
    """The device's time for a layer, forward and backward."""

    @staticmethod
    def forward(ctx, inputs):
        time.sleep(KERNEL_S)
        return inputs.view_as(inputs)

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(2 * KERNEL_S)
        return gradient


class Layers(nn.Module):
    """1 MB of gradients each."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, pictures):
        x = pictures.flatten(1)[:, :WIDTH]
        for layer in self.layers:
            x = Kernel.apply(torch.relu(layer(x)))
        return self.head(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--bucket-mb", type=float, default=25)
    args = parser.parse_args()

    dist.init_process_group("gloo")
    torch.manual_seed(0)
    dataset = Pictures(args.data, 1)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, args.batch_size, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(Layers(), bucket_cap_mb=args.bucket_mb)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(1000):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            criterion(model(inputs), labels).backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
