#!/usr/bin/env python3
"""Makes this example's profiles: `make-profiles.py FOLDER`. Nobody measured them; all numbers are the round ones below.

A network of 25 million parameters, so 100 MB of gradients in four buckets. A `fast` card computes a mini-batch of 64 in
0.18 s, a `slow` one in 0.38 s; smaller ones do not fill the cards. An iteration's computing is 4 % faster or slower than the
mean, its loading 10 %.
"""

import json
import os
import random
import sys

MS = 1e-3
N_ITERATIONS = 20  # of each of two devices
BUCKET_BYTES = 25_000_000
N_BUCKETS = 4
BUCKET_S = 2.5 * MS  # a bucket between two devices: each sends 25 MB over 100 Gbit/s, and some more
COPY_S, REST_S, WAIT_S = 2 * MS, 1 * MS, 0.2 * MS

#         type   batch  loading  forward  backward  optimizer
TYPES = (("fast", 64, 90 * MS, 60 * MS, 120 * MS, 6 * MS),
         ("fast", 128, 170 * MS, 110 * MS, 220 * MS, 6 * MS),
         ("slow", 32, 70 * MS, 75 * MS, 145 * MS, 8 * MS),
         ("slow", 64, 110 * MS, 130 * MS, 250 * MS, 8 * MS))


def stage(samples):
    samples = [round(sample, 6) for sample in samples]
    return {"mean": sum(samples) / len(samples), "n": len(samples), "samples": samples}


def profile(name, batch, load_s, forward_s, backward_s, optimizer_s):
    rng = random.Random(f"{name} {batch}")
    pace = [rng.gauss(1, 0.04) for _ in range(2 * N_ITERATIONS)]
    ready_s = [[backward_s * (i + 1) / N_BUCKETS * p for p in pace] for i in range(N_BUCKETS)]
    stages = {"loader_interval_s": [load_s * rng.gauss(1, 0.1) for _ in pace], "wait_s": [WAIT_S] * len(pace),
              "copy_s": [COPY_S] * len(pace), "forward_s": [forward_s * p for p in pace], "first_backward_s": [MS * p for p in pace],
              "backward_compute_s": ready_s[-1], "backward_s": [ready + BUCKET_S for ready in ready_s[-1]],
              "optimizer_s": [optimizer_s * p for p in pace], "rest_s": [REST_S] * len(pace)}
    in_step = ("wait_s", "copy_s", "forward_s", "backward_s", "optimizer_s", "rest_s")
    stages["step_s"] = [sum(stages[key][i] for key in in_step) for i in range(len(pace))]
    buckets = [{"bytes": BUCKET_BYTES, "wire_bytes": BUCKET_BYTES, "ready_s": stage(ready), "done_s": stage(t + BUCKET_S for t in ready)}
               for ready in ready_s]
    return {"format": "foretrain.profile/1", "device_type": name, "basis": "assumed",
            "note": "Round numbers for an example (make-profiles.py); nobody measured them.",
            "subsystem": {"n": 2, "shares_host": False}, "batch": batch, "loader_workers": 4, "sample_bytes": 110_000,
            "all_reduce": {"gradient_bytes": N_BUCKETS * BUCKET_BYTES},
            "stages": {key: stage(samples) for key, samples in stages.items()}, "buckets": buckets,
            "model": {"parameters": 25_000_000, "parameter_bytes": {"float32": 100_000_000},
                      "gradient_bytes": {"float32": 100_000_000}}}


for row in TYPES:
    with open(os.path.join(sys.argv[1], f"{row[0]}-b{row[1]}.json"), "w", encoding="ascii") as file:
        json.dump(profile(*row), file)
        file.write("\n")
