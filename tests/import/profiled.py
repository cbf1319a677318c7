"""A DDP training that profiles some of its own steps: `profiled.py TRACES FIRST N`, steps from 1."""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset


class Slow(torch.autograd.Function):
    """Takes its time in both directions, as a device would."""

    @staticmethod
    def forward(ctx, x):  # pylint: disable=arguments-differ
        time.sleep(0.010)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):  # pylint: disable=arguments-differ
        time.sleep(0.015)
        return gradient.clone()


class Net(nn.Module):
    """Gradients of 1.05 MB, in two buckets."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(512, 512, bias=False) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = Slow.apply(layer(x))
        return x


class Slowed(torch.optim.SGD):
    """Whose step takes long enough to compare."""

    def step(self, closure=None):
        time.sleep(0.010)
        return super().step(closure)


def main():
    folder, first, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(Net(), bucket_cap_mb=2)
    optimizer = Slowed(model.parameters(), lr=0.01)
    loader = DataLoader(TensorDataset(torch.randn(4096, 512)), batch_size=16)
    schedule = torch.profiler.schedule(wait=first - 3, warmup=2, active=n, repeat=1)

    def export(profiler):
        profiler.export_chrome_trace(os.path.join(folder, f"rank{rank}.json"))

    with torch.profiler.profile(schedule=schedule, on_trace_ready=export, record_shapes=True) as profiler:
        for (x,) in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), x).backward()
            optimizer.step()
            profiler.step()


if __name__ == "__main__":
    main()
