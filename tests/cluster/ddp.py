"""One rank of a small DDP training: `ddp.py STEPS`. Prints a step's bytes of gradients, and what host0 sent in all."""

import json
import sys

import torch
import torch.distributed as dist

N_WARM = 3


def sent_bytes():
    with open("/sys/class/net/host0/statistics/tx_bytes", encoding="ascii") as file:
        return int(file.read())


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    model = torch.nn.Sequential(torch.nn.Linear(500, 500), torch.nn.Linear(500, 500))
    gradient_bytes = sum(parameter.numel() * 4 for parameter in model.parameters())
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    n_steps = int(sys.argv[1])
    for step in range(N_WARM + n_steps):
        if step == N_WARM:
            before = sent_bytes()
        parallel(torch.ones(2, 500)).sum().backward()
    sent = sent_bytes() - before
    dist.barrier()
    print(json.dumps({"rank": dist.get_rank(), "gradient_bytes": gradient_bytes, "sent_bytes": sent}))


main()
