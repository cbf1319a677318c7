"""Measurements of others as foretrain's input: a job file, and profiles that say that they are converted."""

import concurrent.futures
import dataclasses
import json
import os
import subprocess
import tempfile

FORWARD = 1 / 3  # of the time to compute: a backward pass costs about twice its forward
FIRST_BUCKET, BUCKET = 2**20, 25 * 2**20  # bytes; DistributedDataParallel's defaults


def ddp_buckets(payload):
    """Bytes of the buckets in which DistributedDataParallel all-reduces so many bytes of gradients."""
    buckets = [min(FIRST_BUCKET, payload)]
    while sum(buckets) < payload:
        buckets.append(min(BUCKET, payload - sum(buckets)))
    return buckets


def ready_times(buckets, backward_s):
    """Gradients come evenly over the backward pass."""
    so_far, times = 0, []
    for each in buckets:
        so_far += each
        times.append(backward_s * so_far / sum(buckets))
    return times


@dataclasses.dataclass
class Compute:
    """What one device takes for a step; `backward_s` is that of the last micro-batch, beside which buckets are sent."""

    forward_s: float
    backward_s: float
    unsynced_s: float = 0.0
    optimizer_s: float = 0.0


def profile(device, batch, micro_batches, compute, buckets, ready_s, note):
    def mean(seconds):
        return {"mean": seconds}

    stages = {"forward_s": mean(compute.forward_s), "first_backward_s": mean(ready_s[0]), "backward_s": mean(compute.backward_s),
              "backward_compute_s": mean(compute.backward_s), "optimizer_s": mean(compute.optimizer_s)}
    if micro_batches > 1:
        stages["backward_unsynced_s"] = mean(compute.unsynced_s)
    return {"format": "foretrain.profile/1", "device_type": device, "basis": "assumed", "note": note, "subsystem": {"n": 2},
            "batch": batch, "micro_batches": micro_batches, "all_reduce": {"gradient_bytes": sum(buckets)}, "stages": stages,
            "buckets": [{"bytes": each, "wire_bytes": each, "ready_s": mean(at)} for each, at in zip(buckets, ready_s)]}


@dataclasses.dataclass
class Case:
    """A measured system: what foretrain is given of it, and what it took."""

    name: str
    types: dict  # name: (devices, batch, hosts or None, profile)
    links: list  # lines of network.links
    truth_s: float
    baselines_s: dict = dataclasses.field(default_factory=dict)

    def job(self):
        lines = ["devices:"]
        for name, (count, batch, hosts, _) in self.types.items():
            where = f'hosts: "{hosts}", ' if hosts else ""
            lines.append(f"  {name}: {{count: {count}, batch: {batch}, {where}profile: {name}.json}}")
        return "\n".join([*lines, "network:", "  links:", *(f"    - {{{link}}}" for link in self.links), ""])


def forecast(foretrain, case):
    """Seconds a step, by the timeline."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (_, _, _, made) in case.types.items():
            with open(f"{folder}/{name}.json", "w", encoding="utf-8") as file:
                json.dump(made, file)
        with open(f"{folder}/job.yaml", "w", encoding="utf-8") as file:
            file.write(case.job())
        done = subprocess.run([foretrain, "predict", f"{folder}/job.yaml", "--json", "--quiet"], capture_output=True, text=True,
                              check=False)
    if done.returncode:
        raise RuntimeError(f"{case.name}: {done.stderr}\n{case.job()}")
    made = json.loads(done.stdout)
    if made["model"] != "timeline":
        raise RuntimeError(f"{case.name}: {made['timeline']['why_not']}")
    return made["step_s"]


def forecast_all(foretrain, cases):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda case: forecast(foretrain, case), cases))


def mean_error(forecasts, truths):
    """Mean of the absolute relative errors."""
    return sum(abs(made / truth - 1) for made, truth in zip(forecasts, truths)) / len(truths)
