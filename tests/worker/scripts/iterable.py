"""Language-model-like: an endless IterableDataset sharded over ranks and workers, AdamW, gradient clipping."""

import argparse

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

VOCABULARY = 512


class TokenStream(IterableDataset):
    def __init__(self, rank, length):
        self.rank = rank
        self.length = length

    def __iter__(self):
        worker = get_worker_info()
        generator = torch.Generator().manual_seed(1000 * self.rank + (worker.id if worker else 0))
        while True:
            tokens = torch.randint(0, VOCABULARY, (self.length + 1,), generator=generator)
            yield {"input": tokens[:-1], "target": tokens[1:]}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 128)
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 512, batch_first=True), 2)
        self.head = nn.Linear(128, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.blocks(self.embed(tokens)))


parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=100000)
parser.add_argument("--workers", type=int, default=1)
args = parser.parse_args()
dist.init_process_group("gloo")
torch.manual_seed(0)
model = DDP(Model())
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
loader = iter(DataLoader(TokenStream(dist.get_rank(), 32), batch_size=16, num_workers=args.workers))
for step in range(args.steps):
    batch = next(loader)
    logits = model(batch["input"])
    loss = F.cross_entropy(logits.view(-1, VOCABULARY), batch["target"].reshape(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
