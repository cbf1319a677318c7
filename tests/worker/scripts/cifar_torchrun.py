"""A CIFAR-like training as public ones are: argparse, torchrun's variables, DistributedSampler, evaluation each epoch."""

import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class RandomImages(Dataset):
    def __init__(self, length, delay):
        generator = torch.Generator().manual_seed(0)
        self.images = torch.randn(length, 3, 32, 32, generator=generator)
        self.labels = torch.randint(0, 10, (length,), generator=generator)
        self.delay = delay

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        if self.delay:
            time.sleep(self.delay)
        return self.images[index], self.labels[index]


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(2 * width * 8 * 8, 256)
        self.fc2 = nn.Linear(256, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.bn1(self.conv1(x))))
        x = self.pool(F.relu(self.conv2(x)))
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return self.fc2(x)


def evaluate(model, loader, device):
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for images, labels in loader:
            output = model(images.to(device))
            correct += (output.argmax(1) == labels.to(device)).sum().item()
            total += len(labels)
    counts = torch.tensor([correct, total], dtype=torch.float64)
    dist.all_reduce(counts)
    return (counts[0] / counts[1]).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--samples", type=int, default=640)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--no-eval", action="store_true")
    parser.add_argument("--save")
    args = parser.parse_args()

    local_rank = int(os.environ["LOCAL_RANK"])
    use_cuda = torch.cuda.is_available()
    device = torch.device("cuda", local_rank) if use_cuda else torch.device("cpu")
    dist.init_process_group(backend="nccl" if use_cuda else "gloo")
    torch.manual_seed(0)

    train_set = RandomImages(args.samples, args.delay)
    sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, sampler=sampler, num_workers=args.workers)
    test_loader = DataLoader(RandomImages(64, 0), batch_size=args.batch_size)

    model = DDP(Net(args.width).to(device), device_ids=[local_rank] if use_cuda else None)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        model.train()
        for step, (images, labels) in enumerate(train_loader):
            images, labels = images.to(device), labels.to(device)
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            if step % 5 == 0 and dist.get_rank() == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.3f}")
        scheduler.step()
        if not args.no_eval:
            accuracy = evaluate(model, test_loader, device)
            if dist.get_rank() == 0:
                print(f"epoch {epoch} accuracy {accuracy:.3f}")
    if args.save and dist.get_rank() == 0:
        torch.save(model.module.state_dict(), args.save)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
