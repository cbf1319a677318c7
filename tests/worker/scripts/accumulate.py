"""Gradient accumulation with no_sync, and automatic mixed precision with a gradient scaler."""

import argparse
import contextlib
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--accumulate", type=int, default=4)
parser.add_argument("--amp", action="store_true")
args = parser.parse_args()

rank = int(os.environ["RANK"])
dist.init_process_group("gloo", init_method="env://")
torch.manual_seed(0)
model = DDP(nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 10)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler(enabled=args.amp and torch.cuda.is_available())
loader = DataLoader(TensorDataset(torch.randn(1920, 512), torch.randint(0, 10, (1920,))), batch_size=16)
criterion = nn.CrossEntropyLoss()

while True:
    for index, (x, y) in enumerate(loader):
        is_last = (index + 1) % args.accumulate == 0
        with contextlib.nullcontext() if is_last else model.no_sync():
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=args.amp):
                loss = criterion(model(x), y) / args.accumulate
            scaler.scale(loss).backward()
        if is_last:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
