"""A script with a communication hook of its own: gradients are compressed to 16 bits on the wire."""

import argparse

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--hook", choices=["fp16", "builtin", "powersgd"], default="fp16")
args = parser.parse_args()

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DDP(nn.Sequential(nn.Linear(512, 1024), nn.Tanh(), nn.Linear(1024, 16)))
if args.hook == "fp16":
    model.register_comm_hook(dist.group.WORLD, default_hooks.fp16_compress_hook)
elif args.hook == "builtin":
    model._register_builtin_comm_hook(dist.BuiltinCommHookType.FP16_COMPRESS)
else:
    state = powerSGD_hook.PowerSGDState(
        process_group=None, matrix_approximation_rank=1, start_powerSGD_iter=2, min_compression_rate=1
    )
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(torch.randn(4096, 512), torch.randn(4096, 16)), batch_size=32)
while True:
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
