"""DCGAN's loop: two networks, two optimizers, three backward calls in one iteration."""

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(64, 512), nn.ReLU(True), nn.Linear(512, 784), nn.Tanh())

    def forward(self, noise):
        return self.main(noise)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(784, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1))

    def forward(self, images):
        return self.main(images).squeeze(1)


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
netG, netD = DDP(Generator()), DDP(Discriminator(), broadcast_buffers=False)
criterion = nn.BCEWithLogitsLoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
loader = DataLoader(TensorDataset(torch.randn(2048, 784)), batch_size=32, shuffle=True)

for epoch in range(1000):
    for (real,) in loader:
        ones, zeros = torch.ones(len(real)), torch.zeros(len(real))
        netD.zero_grad()
        criterion(netD(real), ones).backward()
        fake = netG(torch.randn(len(real), 64))
        criterion(netD(fake.detach()), zeros).backward()
        optimizerD.step()
        netG.zero_grad()
        criterion(netD(fake), ones).backward()
        optimizerG.step()
