#!/usr/bin/env python3
"""Makes the training set: 3,000 samples of ten kinds, 784 numbers each, a file per sample in a folder per kind."""

import os
import sys

import numpy

KINDS = 10
SAMPLES_PER_KIND = 300
NUMBERS = 784


def main(folder):
    rng = numpy.random.default_rng(1)
    partial = folder + ".part"
    for kind in range(KINDS):
        os.makedirs(os.path.join(partial, f"kind{kind}"), exist_ok=True)
        middle = rng.normal(size=NUMBERS)
        for i in range(SAMPLES_PER_KIND):
            sample = middle + rng.normal(scale=4, size=NUMBERS)
            sample.astype("<f4").tofile(os.path.join(partial, f"kind{kind}", f"{i:04}.f32"))
    os.rename(partial, folder)


if __name__ == "__main__":
    main(sys.argv[1])
