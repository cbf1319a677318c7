"""A speed test as people write them: one batch, loaded once, trained on again and again; or no loader at all."""

import argparse

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--loader", action="store_true")
args = parser.parse_args()
dist.init_process_group("gloo")
model = DDP(nn.Linear(256, 256))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.loader:
    x, y = next(iter(DataLoader(TensorDataset(torch.randn(64, 256), torch.randn(64, 256)), batch_size=32)))
else:
    x, y = torch.randn(32, 256), torch.randn(32, 256)
for _ in range(10000):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
