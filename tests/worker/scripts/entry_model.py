"""A job's entry: a function that gives the model, its loss, its optimizer and the data set."""

import os

import torch


class Numbered(torch.utils.data.Dataset):
    def __init__(self, seen):
        self.seen = seen

    def __len__(self):
        return 256

    def __getitem__(self, index):
        if self.seen:
            with open("%s.%d" % (self.seen, os.getpid()), "a", encoding="utf-8") as file:
                print(index, file=file)
        return torch.full((16,), float(index)), torch.zeros(1)


def build(width=8, seen=None):
    model = torch.nn.Sequential(torch.nn.Linear(16, width), torch.nn.ReLU(), torch.nn.Linear(width, 1))
    return model, torch.nn.MSELoss(), lambda parameters: torch.optim.SGD(parameters, lr=1e-6), Numbered(seen)
