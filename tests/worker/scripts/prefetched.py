"""A loader that is read ahead by a thread, as prefetch_generator does; an optimizer with a closure; ranks meet in a file."""

import queue
import sys
import threading
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 6400

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.randn(64), torch.randn(16)


class BackgroundGenerator(threading.Thread):
    def __init__(self, generator):
        super().__init__(daemon=True)
        self.queue, self.generator = queue.Queue(4), generator
        self.start()

    def run(self):
        for item in self.generator:
            self.queue.put(item)
        self.queue.put(None)

    def __iter__(self):
        return iter(self.queue.get, None)


class DataLoaderX(DataLoader):
    def __iter__(self):
        return iter(BackgroundGenerator(super().__iter__()))


dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
model = DDP(nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 16)), gradient_as_bucket_view=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
while True:
    for x, y in DataLoaderX(Slow(), batch_size=20, drop_last=True):

        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)
