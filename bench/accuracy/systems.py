"""The systems of the accuracy benchmark: hosts by type with their share of a core, links, and what trains on them.

`types` is {name: (share of a core, devices, mini-batch)}; a type of two
devices has two hosts more, on which its sub-system is measured, so that no host is both measured and forecast; a larger
type is measured on two of its own. The first type's devices are on one processor and all others on another, and shares
come to less than 0.6 of each: so each device gets its own whatever the others do, and the kernel's network has room beside them.
Three types are measured one after the other, since the sub-systems of two on one processor would be in each other's way.

Waiting systems have devices for which their host waits (train_waiting.py), so that their kernels take as long whatever this machine
does beside: {name: (milliseconds of a layer's kernel, devices, mini-batch)}. Their hosts are not limited.
"""

import dataclasses

WITHIN = "300mbit"


@dataclasses.dataclass(frozen=True)
class System:
    name: str
    about: str
    bound: str
    types: dict
    links: dict
    order: str = "as-listed"
    model: str = "cnn"
    args: tuple = ()
    iterations: tuple = (5, 45)

    scripts = ("train.py",)  # the last one trains

    def measuring(self):
        return ["--parallel"] if len(self.types) <= 2 else []

    def share(self, name):
        return self.types[name][0]

    def environment(self, name):  # pylint: disable=unused-argument
        return {}

    def arguments(self):
        return ["--model", self.model, *self.args]

    def speed(self, name):
        return f"{self.types[name][0]:g}"


@dataclasses.dataclass(frozen=True)
class Waiting(System):
    model: str = "waiting"
    iterations: tuple = (10, 50)

    scripts = ("train.py", "train_waiting.py")

    def share(self, name):
        return None

    def environment(self, name):
        return {"KERNEL_MS": f"{self.types[name][0]:g}"}

    def arguments(self):
        return list(self.args)

    def speed(self, name):
        return f"{self.types[name][0]:g} ms a layer"


SHORT = (5, 21)  # of those whose iterations take seconds, or that were measured before windows became longer
TWO = {"a": (0.28, 2, 16), "b": (0.14, 2, 16)}
WAIT = {"a": (5, 2, 4), "b": (9, 2, 4)}


def across(rate):
    return {"*": WITHIN, "a-b": rate}


SYSTEMS = [
    System("computing", "fast links", "computing", TWO, {"*": "2gbit"}, iterations=SHORT),
    System("between", "as much sending as computing", "both", TWO, across("150mbit"), iterations=SHORT),
    System("sending", "a slow link between the types", "all-reduce", TWO, across("40mbit"), iterations=SHORT),
    System("interleaved", "ring order a b a b", "both", TWO, across("100mbit"), order="interleaved", iterations=SHORT),
    System("asymmetric", "60 Mbit/s one way, 200 the other", "all-reduce", TWO,
           {"*": WITHIN, "a>b": "60mbit", "b>a": "200mbit"}, iterations=SHORT),
    System("one-slow-link", "one link of one direction slow", "all-reduce", TWO,
           {"*": WITHIN, "a1>b0": "30mbit", "b0>a1": "30mbit"}, iterations=SHORT),
    System("batches", "unequal mini-batches", "computing", {"a": (0.28, 2, 24), "b": (0.14, 2, 12)}, across("150mbit")),
    System("three-types", "three types", "both", {"a": (0.28, 2, 16), "b": (0.16, 2, 16), "c": (0.1, 2, 8)},
           {"*": "200mbit", "a-c": "100mbit"}),
    System("eight", "eight devices", "both", {"a": (0.15, 4, 16), "b": (0.1, 4, 16)}, across("150mbit")),
    System("loading", "pictures that are costly to load", "loading", TWO, {"*": WITHIN},
           args=("--scale", "12"), iterations=SHORT),
    System("one-bucket", "transformer, one bucket", "both", TWO, across("100mbit"),
           model="transformer", args=("--bucket-mb", "100"), iterations=SHORT),
    System("many-buckets", "transformer, buckets of 0.5 MB", "both", TWO, across("100mbit"),
           model="transformer", args=("--bucket-mb", "0.5"), iterations=SHORT),
    System("resnet18", "ResNet-18, 45 MB of gradients", "all-reduce", {"a": (0.26, 2, 4), "b": (0.17, 2, 4)},
           {"*": "600mbit", "a-b": "400mbit"}, model="resnet18", iterations=(4, 14)),
    System("loader-beside", "costly pictures, one loader worker", "loading", TWO, {"*": WITHIN},
           args=("--scale", "12", "--workers", "1"), iterations=SHORT),
    System("small-batches", "few samples, much to send", "all-reduce", {"a": (0.28, 2, 4), "b": (0.14, 2, 4)}, across("200mbit")),
    System("five", "five devices, three types", "both", {"a": (0.28, 2, 16), "b": (0.16, 2, 12), "c": (0.1, 1, 8)},
           {"*": "250mbit", "a-c": "120mbit"}),
    System("six", "six devices, interleaved", "both", {"a": (0.19, 3, 12), "b": (0.1, 3, 12)}, across("120mbit"),
           order="interleaved", model="transformer", args=("--bucket-mb", "1"), iterations=SHORT),
    Waiting("w-computing", "long kernels", "computing", {"a": (20, 2, 4), "b": (34, 2, 4)}, {"*": WITHIN},
            args=("--bucket-mb", "2")),
    Waiting("w-between", "as much sending as computing", "both", WAIT, across("200mbit"), args=("--bucket-mb", "2")),
    Waiting("w-sending", "a slow link between the types", "all-reduce", WAIT, across("100mbit"), args=("--bucket-mb", "2")),
    Waiting("w-interleaved", "ring order a b a b", "both", WAIT, across("200mbit"), order="interleaved",
            args=("--bucket-mb", "2")),
    Waiting("w-asymmetric", "80 Mbit/s one way, 250 the other", "all-reduce", WAIT,
            {"*": WITHIN, "a>b": "80mbit", "b>a": "250mbit"}, args=("--bucket-mb", "2")),
    Waiting("w-one-bucket", "all gradients in one bucket", "both", WAIT, across("250mbit"), args=("--bucket-mb", "100")),
    Waiting("w-many-buckets", "a bucket for each layer", "both", WAIT, across("250mbit"), args=("--bucket-mb", "0.5")),
    Waiting("w-eight", "eight devices", "both", {"a": (12, 4, 4), "b": (20, 4, 4)}, {"*": "120mbit"},
            args=("--bucket-mb", "2")),
    Waiting("w-three-types", "three types", "both", {"a": (10, 2, 4), "b": (16, 2, 4), "c": (26, 2, 4)},
            {"*": WITHIN, "a-c": "150mbit"}, args=("--bucket-mb", "2")),
    Waiting("w-five", "five devices, three types", "both", {"a": (12, 2, 4), "b": (18, 2, 4), "c": (27, 1, 4)},
            {"*": "250mbit", "a-c": "120mbit"}, args=("--bucket-mb", "1")),
    Waiting("w-six", "six devices, interleaved", "both", {"a": (8, 3, 4), "b": (14, 3, 4)}, {"*": "160mbit"}, order="interleaved",
            args=("--bucket-mb", "1")),
]
