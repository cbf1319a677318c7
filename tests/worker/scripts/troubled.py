"""Trainings that do not go well, or that are not data-parallel, each in its own way."""

import argparse
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("trouble")
args = parser.parse_args()

if args.trouble == "no-group":
    sys.exit(0)
dist.init_process_group("gloo")
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4))
if args.trouble == "data-parallel":
    model = nn.DataParallel(model)
elif args.trouble == "deepspeed":
    import deepspeed

    model, _, _, _ = deepspeed.initialize(model=model)
elif args.trouble == "subgroup":
    groups = [dist.new_group([rank]) for rank in range(dist.get_world_size())]
    model = DDP(model, process_group=groups[dist.get_rank()])
elif args.trouble != "no-ddp":
    model = DDP(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(256, 64), torch.randn(256, 4)), batch_size=32, num_workers=1)


def train_one(step, x, y):
    if args.trouble == "crash" and step == 6:
        raise RuntimeError("loss is NaN at step 6")
    if args.trouble == "status" and step == 6:
        sys.exit(3)
    if args.trouble == "except-exception":
        print("x" * 5000)
        print("y" * 5000, file=sys.stderr)
    optimizer.zero_grad()
    forward = model.module if args.trouble == "bypass" else model
    nn.functional.l1_loss(forward(x), y).backward()
    if args.trouble != "no-step":
        optimizer.step()


step = 0
for epoch in range(2 if args.trouble in ("early", "no-step") else 100):
    for x, y in loader:
        step += 1
        if args.trouble == "except-exception":
            try:
                train_one(step, x, y)
            except Exception as error:
                print("ignored", error)
        elif args.trouble == "bare-except":
            try:
                train_one(step, x, y)
            except:
                print("ignored everything")
        else:
            train_one(step, x, y)
