"""A detection toolbox's trainer: endless sampler, batches as lists of samples, a frozen teacher, two losses, two optimizers."""

import itertools
import logging
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import BatchSampler, DataLoader, Dataset, Sampler


class Images(Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        return {"image": torch.randn(3, 16, 16), "label": index % 10}


class TrainingSampler(Sampler):
    """Never ends, so there are no epochs."""

    def __init__(self, size):
        self.size, self.rank, self.world_size = size, dist.get_rank(), dist.get_world_size()

    def __iter__(self):
        yield from itertools.islice(self._infinite_indices(), self.rank, None, self.world_size)

    def _infinite_indices(self):
        generator = torch.Generator().manual_seed(0)
        while True:
            yield from torch.randperm(self.size, generator=generator).tolist()


class Detector(nn.Module):
    """A head on features that it does not train, and the trunk with its own head: each loss has its own backward."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(768, 256).requires_grad_(False)
        self.trunk = nn.Sequential(nn.Linear(256, 512), nn.ReLU())
        self.classes, self.boxes = nn.Linear(512, 10), nn.Linear(512, 512)

    def forward(self, batched_inputs):
        images = torch.stack([sample["image"] for sample in batched_inputs])
        labels = torch.tensor([sample["label"] for sample in batched_inputs])
        features = self.trunk(self.stem(images.flatten(1)))
        boxes = self.boxes(features.detach())
        return features, {"classes": F.cross_entropy(self.classes(features), labels), "boxes": boxes.abs().mean()}


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(768, 512)

    def forward(self, batched_inputs):
        return self.trunk(torch.stack([sample["image"] for sample in batched_inputs]).flatten(1))


class Trainer:
    def __init__(self):
        self.model = DistributedDataParallel(Detector(), broadcast_buffers=False, bucket_cap_mb=0.25)
        self.teacher = DistributedDataParallel(Teacher()).eval()
        self.batches = BatchSampler(TrainingSampler(1000), 8, drop_last=True)
        loader = DataLoader(Images(), batch_sampler=self.batches, num_workers=1, collate_fn=lambda samples: samples)
        self._data_loader_iter = iter(loader)
        boxes = list(self.model.module.boxes.parameters())
        rest = [p for p in self.model.parameters() if p.requires_grad and all(p is not box for box in boxes)]
        self.optimizer, self.slow_optimizer = torch.optim.SGD(rest, 0.01), torch.optim.SGD(boxes, 0.01)

    def run_step(self):
        data = next(self._data_loader_iter)
        with torch.no_grad():
            target = self.teacher(data)
        features, losses = self.model(data)
        self.optimizer.zero_grad()
        losses["boxes"].backward(retain_graph=True)
        (losses["classes"] + F.mse_loss(features, target)).backward()
        metrics = [None] * dist.get_world_size()
        dist.all_gather_object(metrics, {name: value.item() for name, value in losses.items()})
        self.optimizer.step()
        if self.iter % 3 == 0:
            self.slow_optimizer.step()
            self.slow_optimizer.zero_grad()

    def train(self):
        try:
            for self.iter in itertools.count():
                self.run_step()
        except Exception:
            logging.exception("Exception during training:")
            raise
        finally:
            print("after_train")


host, port = os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"]
dist.init_process_group(
    "gloo", init_method=f"tcp://{host}:{port}", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"])
)
torch.manual_seed(0)
Trainer().train()
