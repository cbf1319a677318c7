"""The first distributed tutorial: the script forks its own ranks after it has imported torch."""

import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.multiprocessing import Process
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset


def run(rank, size):
    torch.manual_seed(1234)
    model = DDP(nn.Linear(256, 256))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    train_set = DataLoader(TensorDataset(torch.randn(960, 256)), batch_size=32)
    for epoch in range(10):
        for step, (data,) in enumerate(train_set):
            if len(sys.argv) > 2 and step == 6:
                raise ValueError("bad batch\nand more about it")
            optimizer.zero_grad()
            model(data).pow(2).mean().backward()
            optimizer.step()


def init_process(rank, size, fn, port):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = port
    dist.init_process_group("gloo", rank=rank, world_size=size)
    fn(rank, size)


if __name__ == "__main__":
    processes = [Process(target=init_process, args=(rank, 2, run, sys.argv[1])) for rank in range(2)]
    for p in processes:
        p.start()
    for p in processes:
        p.join()
    sys.exit(max(p.exitcode for p in processes))
