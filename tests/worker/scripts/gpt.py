"""A small GPT as public ones train: no DataLoader, batches from a memory map, accumulation by hand, clipping, evaluation.

Its own clock is held against the worker's: the last lines that it prints are seconds of each of its iterations.
"""

import os
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP

block_size, batch_size, vocabulary = 32, 8, 256
gradient_accumulation_steps, eval_interval = 3, 7


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, 128)
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True), 2)
        self.head = nn.Linear(128, vocabulary, bias=False)
        self.embed.weight = self.head.weight

    def forward(self, idx, targets):
        logits = self.head(self.blocks(self.embed(idx)))
        return logits, F.cross_entropy(logits.view(-1, vocabulary), targets.view(-1))


tokens = tempfile.NamedTemporaryFile(suffix=".bin")
np.random.randint(0, vocabulary, 100000).astype(np.uint16).tofile(tokens.name)


def get_batch():
    data = np.memmap(tokens.name, dtype=np.uint16, mode="r")
    starts = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([torch.from_numpy(data[i : i + block_size].astype(np.int64)) for i in starts])
    y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + block_size].astype(np.int64)) for i in starts])
    return x, y


@torch.no_grad()
def estimate_loss():
    model.eval()
    losses = torch.tensor([model(*get_batch())[1].item() for _ in range(2)])
    model.train()
    return losses.mean()


init_process_group(backend="gloo")
master_process = int(os.environ["RANK"]) == 0
torch.manual_seed(1337)
model = GPT()
decay = [p for p in model.parameters() if p.dim() >= 2]
no_decay = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0}], lr=1e-3)
scaler = torch.cuda.amp.GradScaler(enabled=False)
model = DDP(model)
X, Y = get_batch()
iter_num, t0 = 0, time.time()
while True:
    for param_group in optimizer.param_groups:
        param_group["lr"] = 1e-3 / (1 + iter_num)
    if iter_num % eval_interval == 0 and master_process:
        print(f"step {iter_num}: loss {estimate_loss():.4f}")
    for micro_step in range(gradient_accumulation_steps):
        model.require_backward_grad_sync = micro_step == gradient_accumulation_steps - 1
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits, loss = model(X, Y)
            loss = loss / gradient_accumulation_steps
        X, Y = get_batch()
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    t1 = time.time()
    dt, t0 = t1 - t0, t1
    print(f"iter {iter_num}: loss {loss.item() * gradient_accumulation_steps:.4f}, time {dt * 1000:.2f}ms")
    iter_num += 1
destroy_process_group()
