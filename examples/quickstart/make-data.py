#!/usr/bin/env python3
"""Makes the quickstart's training set: 3,000 pictures of ten kinds of pattern, in a folder per class."""

import os
import sys

import numpy
from PIL import Image

CLASSES = 10
PICTURES_PER_CLASS = 300
SIZE = 32


def picture(rng, label):
    """Waves whose direction and length belong to the class, with random phase, colour and noise."""
    y, x = numpy.mgrid[0:SIZE, 0:SIZE] / SIZE
    angle = numpy.pi * label / CLASSES
    wave = numpy.sin(2 * numpy.pi * (2 + label % 3) * (x * numpy.cos(angle) + y * numpy.sin(angle)) + rng.uniform(0, 6))
    colour = rng.uniform(0.3, 1, size=3)
    pixels = 127 + 90 * wave[:, :, None] * colour + rng.normal(0, 70, size=(SIZE, SIZE, 3))
    return Image.fromarray(pixels.clip(0, 255).astype("uint8"))


def main(folder):
    rng = numpy.random.default_rng(1)
    partial = folder + ".part"
    for label in range(CLASSES):
        os.makedirs(os.path.join(partial, f"class{label}"), exist_ok=True)
        for i in range(PICTURES_PER_CLASS):
            picture(rng, label).save(os.path.join(partial, f"class{label}", f"{i:04}.png"))
    os.rename(partial, folder)


if __name__ == "__main__":
    main(sys.argv[1])
