"""Pollux (OSDI'21): steps of six models on T4 GPUs, 4 to a host, from 1 to 64 of them, in Kubernetes on EC2.

A forecast uses what a user would have measured: one replica ("1"), two on one host ("2"), two on two hosts ("11"). Of the larger
placements and their times nothing goes in. Assumptions, none of them chosen for these rows:

- Bytes: 4 for each parameter of the model that the benchmark's programs build.
- Forward takes a third of the time to compute, backward two thirds; gradients come evenly over it, in DistributedDataParallel's
  default buckets. What optimizer and loading take is in computing; it is as long in every placement.
- Computing alone is the step of "1". A replica that shares its host computes as long as makes the step of "2", but not shorter.
- One time for a model's all-reduce on two hosts, and one within a host: the least squares of relative errors over all mini-batches
  of "11" and of "2". Payload over that time is what a direction of a link has while both are busy.
- The replicas' traffic goes through Calico's tunnels, one flow for each two hosts, so that its two directions may share what there is. Of
  a link that was only seen with both directions busy, one direction alone has from as much to twice as much; the geometric
  middle, sqrt(2), is off by as little as can be either way. It counts in rings of three hosts and more, where each link is used one way.
- What "11" scatters around the timeline, in shares of its all-reduce, over all mini-batches is how much links vary from time to time; a
  larger ring waits for the slowest of more of them (network.links.spread).
- Latency is in these times; none is added.
"""

import csv
import math

from converted import FORWARD, Case, Compute, ddp_buckets, profile, ready_times

PARAMETERS = {
    "bert": 108.9e6,  # BERT-base with the head for questions and answers
    "cifar10": 11.17e6,  # ResNet-18
    "deepspeech2": 41.2e6,  # 5 bidirectional GRUs of 800
    "imagenet": 25.56e6,  # ResNet-50
    "ncf": 1.60e6,  # factors 32, 3 layers, MovieLens 1M
    "yolov3": 61.9e6,
}
MEASURED = ("1", "2", "11")
BOTH_WAYS = 2.0  # rates of a direction while both are busy
ONE_WAY = math.sqrt(2)
NOTE = ("converted from Pollux's placements 1, 2 and 11: forward a third of the step of one replica, backward two thirds, gradients "
        "evenly over it in DistributedDataParallel's default buckets")


def rows(path):
    with open(path, encoding="utf-8") as file:
        yield from csv.DictReader(file)


def read(folder, model):
    """{(placement, batch): (step, sync)} of what was measured, and [(replicas of each host, batch, step)] of the rest."""
    measured, larger = {}, []
    for row in rows(f"{folder}/{model}_placements.csv"):
        batch, step_s = int(row["local_bsz"]), float(row["step_time"])
        if row["placement"] in MEASURED:
            measured[row["placement"], batch] = step_s, float(row["sync_time"])
        else:
            larger.append((tuple(int(digit) for digit in row["placement"]), batch, step_s))
    for row in rows(f"{folder}/{model}_scalability.csv"):
        each, more = divmod(int(row["num_replicas"]), int(row["num_nodes"]))
        replicas = (each + 1,) * more + (each,) * (int(row["num_nodes"]) - more)
        larger.append((replicas, int(row["local_bsz"]), float(row["step_time"])))
    return measured, larger


def step(compute_s, all_reduce_s, buckets):
    """The timeline of two equal devices: buckets one after the other, each when it is ready."""
    until_s = 0
    for size, ready_s in zip(buckets, ready_times(buckets, compute_s * (1 - FORWARD))):
        until_s = max(until_s, compute_s * FORWARD + ready_s) + all_reduce_s * size / sum(buckets)
    return max(until_s, compute_s)


def golden(function, low, high):
    """Where a function of one valley is least, by golden section over the logarithm."""
    ratio = (math.sqrt(5) - 1) / 2
    low, high = math.log(low), math.log(high)
    while high - low > 1e-6:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if function(math.exp(left)) <= function(math.exp(right)):
            high = right
        else:
            low = left
    return math.exp((low + high) / 2)


class Model:
    def __init__(self, folder, name):
        self.name = name
        self.measured, self.larger = read(folder, name)
        self.payload = 4 * PARAMETERS[name]
        self.buckets = ddp_buckets(self.payload)
        self.across_s, self.within_s = self.all_reduce_s("11"), self.all_reduce_s("2")
        self.spread = self.scatter()

    def steps(self, placement):
        return {batch: step_s for (of, batch), (step_s, _) in self.measured.items() if of == placement}

    def all_reduce_s(self, placement):
        alone_s, steps_s = self.steps("1"), self.steps(placement)

        def squared_error(time_s):
            return sum((step(alone_s[batch], time_s, self.buckets) / step_s - 1)**2 for batch, step_s in steps_s.items())

        return golden(squared_error, 1e-5, 10)

    def scatter(self):
        """Root mean square of what "11" is off, in its all-reduce's time."""
        alone_s = self.steps("1")
        off = [(step_s - step(alone_s[batch], self.across_s, self.buckets)) / self.across_s
               for batch, step_s in self.steps("11").items()]
        return math.sqrt(sum(each**2 for each in off) / len(off))

    def computing_s(self, batch, in_company):
        alone_s, pair_s = self.steps("1")[batch], self.steps("2").get(batch)
        if not in_company or not pair_s:
            return alone_s
        low, high = alone_s, max(alone_s, pair_s)
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (middle, high) if step(middle, self.within_s, self.buckets) < pair_s else (low, middle)
        return low

    def profile(self, device, batch):
        computing_s = self.computing_s(batch, device == "company")
        compute = Compute(computing_s * FORWARD, computing_s * (1 - FORWARD))
        return profile(device, batch, 1, compute, self.buckets, ready_times(self.buckets, compute.backward_s), NOTE)

    def links(self, devices):
        slowest_of_two = 1 + self.spread / math.sqrt(math.pi)
        across, within = slowest_of_two * self.payload / self.across_s, self.payload / self.within_s
        for k, one in enumerate(devices):
            for other in devices[k:]:
                yield (f"between: [{one}, {other}], where: across-hosts, bandwidth: {ONE_WAY * across:.0f} B/s, "
                       f"both_ways: {BOTH_WAYS * across:.0f} B/s, spread: {100 * self.spread:.3f} %")
                yield f"between: [{one}, {other}], where: within-host, bandwidth: {within:.0f} B/s"

    def baselines(self, replicas, batch):
        """The two-replica time as it is, and with its sync time times 2(N-1)/N."""
        n = sum(replicas)
        step_s, sync_s = self.measured["2" if len(replicas) == 1 else "11", batch]
        return {"copied": step_s, "scaled": step_s - sync_s + sync_s * 2 * (n - 1) / n}

    def case(self, replicas, batch, truth_s):
        hosts = {"alone": [f"h{i}" for i, n in enumerate(replicas) if n == 1],
                 "company": [f"h{i}:{n}" for i, n in enumerate(replicas) if n > 1]}
        counts = {"alone": replicas.count(1), "company": sum(n for n in replicas if n > 1)}
        types = {device: (counts[device], batch, ", ".join(names), self.profile(device, batch))
                 for device, names in hosts.items() if names}
        return Case(f"{self.name} {'+'.join(map(str, replicas))} batch {batch}", types, list(self.links(list(types))), truth_s,
                    self.baselines(replicas, batch))

    def cases(self, every):
        return [self.case(*row) for row in self.larger[::every]]


def models(shared):
    return [Model(f"{shared}/data/scaling/pollux", name) for name in PARAMETERS]
