#!/usr/bin/env python3
"""What the accuracy benchmark trains: an ordinary DDP script with a CNN, a ResNet-18 and a small transformer."""

import argparse
import os

import numpy
import torch
import torch.distributed as dist
from PIL import Image
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

CLASSES = 10
TOKENS, SEQUENCE = 1000, 24


class Pictures(Dataset):
    """Pictures in a folder per class. `scale`: they are resized to so many times their size and back, as decoding
    larger ones would cost."""

    def __init__(self, folder, scale):
        self.scale = scale
        self.files = [
            (os.path.join(folder, name, file), int(name[len("class"):]))
            for name in sorted(os.listdir(folder))
            for file in sorted(os.listdir(os.path.join(folder, name)))
        ]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        with Image.open(path) as image:
            image = image.convert("RGB")
            if self.scale > 1:
                size = image.size
                image = image.resize((size[0] * self.scale, size[1] * self.scale), Image.BICUBIC).resize(size)
            pixels = numpy.asarray(image, dtype=numpy.float32)
        return torch.from_numpy(pixels).permute(2, 0, 1) / 255 - 0.5, label


class Sentences(Dataset):
    """Random tokens; the label is the class of the first."""

    def __init__(self, n):
        self.tokens = torch.randint(0, TOKENS, (n, SEQUENCE), generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        tokens = self.tokens[index]
        return tokens, int(tokens[0]) % CLASSES


def convolution(inputs, outputs, stride=1, kernel=3):
    return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs)]


def cnn():
    def block(inputs, outputs):
        return [*convolution(inputs, outputs), nn.ReLU(), nn.MaxPool2d(2)]

    return nn.Sequential(
        *block(3, 32), *block(32, 64), *block(64, 128), nn.Flatten(),
        nn.Linear(128 * 4 * 4, 640), nn.ReLU(), nn.Linear(640, CLASSES),
    )


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            *convolution(inputs, outputs, stride), nn.ReLU(), *convolution(outputs, outputs)
        )
        changes = stride > 1 or inputs != outputs
        self.shortcut = nn.Sequential(*convolution(inputs, outputs, stride, 1)) if changes else nn.Identity()

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet18():
    """Two basic blocks of 64, 128, 256 and 512 channels, with the first layer for small pictures."""
    blocks, inputs = [], 64
    for outputs in (64, 128, 256, 512):
        blocks += [Residual(inputs, outputs, 1 if outputs == 64 else 2), Residual(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(
        *convolution(3, 64, 2), nn.ReLU(), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES)
    )


class Transformer(nn.Module):
    def __init__(self, width=128, heads=4, layers=4):
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, tokens):
        return self.head(self.encoder(self.embedding(tokens)).mean(dim=1))


MODELS = {"cnn": cnn, "resnet18": resnet18, "transformer": Transformer}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=MODELS, required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--bucket-mb", type=float, default=25)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--scale", type=int, default=1)
    args = parser.parse_args()

    dist.init_process_group("gloo")
    torch.manual_seed(0)
    pictures = Pictures(args.data, args.scale)
    dataset = Sentences(len(pictures)) if args.model == "transformer" else pictures
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, args.batch_size, sampler=sampler, num_workers=args.workers, drop_last=True)
    model = DistributedDataParallel(MODELS[args.model](), bucket_cap_mb=args.bucket_mb)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(1000):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            criterion(model(inputs), labels).backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
