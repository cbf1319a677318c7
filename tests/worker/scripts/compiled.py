"""torch.compile (2.x) around DDP, as the tutorial has it; the eager backend needs no compiler."""

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group("gloo")
torch.manual_seed(0)
model = torch.compile(DDP(nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 8))), backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(960, 128), torch.randint(0, 8, (960,))), batch_size=32)
while True:
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
