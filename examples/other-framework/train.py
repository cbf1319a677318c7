#!/usr/bin/env python3
"""A data-parallel training that is not PyTorch: a network in numpy, gradients summed around a ring of TCP sockets.

Started once for each rank with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT. While backward goes on, a thread sums the
gradients that are ready, bucket by bucket. foretrain measures it by the record that it writes (record.py).
"""

import argparse
import glob
import os
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy

from record import NoRecord, Record, read_spec
from ring import Ring

WIDTHS = (784, 1024, 512, 10)
BUCKETS = ((2, 1), (0,))  # layers whose gradients are summed together, in the order in which backward has them
LEARNING_RATE = 0.02


class Network:
    """Dense layers; the last row of a layer's weights is added. The gradients of a bucket lie in one piece."""

    def __init__(self):
        rng = numpy.random.default_rng(1)
        self.weights, self.gradients, self.buckets = {}, {}, []
        for layers in BUCKETS:
            shapes = [(WIDTHS[k] + 1, WIDTHS[k + 1]) for k in layers]
            piece = numpy.zeros(sum(rows * columns for rows, columns in shapes), dtype=numpy.float32)
            self.buckets.append(piece)
            for k, (rows, columns) in zip(layers, shapes):
                self.gradients[k], piece = piece[: rows * columns].reshape(rows, columns), piece[rows * columns:]
                self.weights[k] = rng.normal(scale=(2 / rows) ** 0.5, size=(rows, columns)).astype(numpy.float32)
                self.weights[k][-1] = 0

    def forward(self, samples, kinds):
        """The loss of a mini-batch."""
        self.inputs = [samples]
        for k in range(len(WIDTHS) - 1):
            out = self.inputs[k] @ self.weights[k][:-1] + self.weights[k][-1]
            self.inputs.append(numpy.maximum(out, 0) if k < len(WIDTHS) - 2 else out)
        scores = numpy.exp(out - out.max(axis=1, keepdims=True))
        self.shares = scores / scores.sum(axis=1, keepdims=True)
        return float(-numpy.log(self.shares[numpy.arange(len(kinds)), kinds] + 1e-12).mean())

    def slope_of_loss(self, kinds, samples_of_all):
        """The first operator of backward: of the loss to the last layer's output, so that ranks' gradients add up."""
        slope = self.shares
        slope[numpy.arange(len(kinds)), kinds] -= 1
        return slope / numpy.float32(samples_of_all)

    def backward(self, k, slope):
        """A layer's gradients, and the slope of the layer before it."""
        numpy.matmul(self.inputs[k].T, slope, out=self.gradients[k][:-1])
        self.gradients[k][-1] = slope.sum(axis=0)
        return (slope @ self.weights[k][:-1].T) * (self.inputs[k] > 0) if k > 0 else None

    def step(self):
        for k, weights in self.weights.items():
            weights -= numpy.float32(LEARNING_RATE) * self.gradients[k]


class Loader:
    """One worker that reads mini-batches ahead, over the files again and again in a new order each time."""

    def __init__(self, folder, batch, seed):
        self._files = sorted(glob.glob(os.path.join(folder, "*", "*.f32")))
        self._batch = min(batch, len(self._files))
        self._rng = numpy.random.default_rng(seed)
        self._ready = queue.Queue(maxsize=2)
        self.fetch_s = []
        threading.Thread(target=self._work, daemon=True).start()

    def _batches(self):
        while True:
            order = self._rng.permutation(len(self._files))
            for i in range(0, len(order) - self._batch + 1, self._batch):
                yield [self._files[k] for k in order[i: i + self._batch]]

    def _work(self):
        for files in self._batches():
            begin_s = time.perf_counter()
            samples = numpy.stack([numpy.fromfile(file, dtype="<f4") for file in files]) / numpy.float32(4)
            kinds = numpy.array([int(os.path.basename(os.path.dirname(file))[4:]) for file in files])
            self.fetch_s.append(time.perf_counter() - begin_s)
            self._ready.put((samples, kinds))

    def next(self):
        return self._ready.get()


def train_step(network, ring, summing, loader, samples_of_all):
    """Loading to optimizer; the loss and the times that the record wants."""
    wait_begin_s = time.perf_counter()
    samples, kinds = loader.next()
    got_s = time.perf_counter()
    loss = network.forward(samples, kinds)
    backward_begin_s = time.perf_counter()
    slope = network.slope_of_loss(kinds, samples_of_all)
    first_end_s = time.perf_counter()
    buckets, sums = [], []
    for piece, layers in zip(network.buckets, BUCKETS):
        for k in layers:
            slope = network.backward(k, slope)
        buckets.append({"index": len(buckets), "bytes": piece.nbytes, "wire_bytes": piece.nbytes,
                        "ready_s": time.perf_counter() - backward_begin_s})
        sums.append(summing.submit(ring.all_reduce, piece))
    for bucket, done in zip(buckets, sums):
        bucket["done_s"] = done.result() - backward_begin_s
    backward_end_s = time.perf_counter()
    network.step()
    end_s = time.perf_counter()
    return loss, {
        "wait_s": got_s - wait_begin_s, "copy_s": 0.0, "forward_s": backward_begin_s - got_s,
        "backward_s": backward_end_s - backward_begin_s, "first_backward_s": first_end_s - backward_begin_s,
        "backward_unsynced_s": 0.0, "backward_compute_s": buckets[-1]["ready_s"],
        "optimizer_s": end_s - backward_end_s, "micro_batches": 1, "samples": len(kinds), "edge": False,
        "profiled": False, "counted": True, "bytes_sent": None, "bytes_sent_other": None, "buckets": buckets,
        "collectives": [],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=100, help="of a training that nobody measures")
    args = parser.parse_args()
    rank, size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    spec = read_spec()
    record = Record(spec, rank) if spec else NoRecord()
    samples_of_all = sum(spec["batch_by_rank"]) if spec else size * args.batch
    ring = Ring(rank, size, os.environ.get("MASTER_ADDR", ""), int(os.environ.get("MASTER_PORT", 0)))
    network, loader = Network(), Loader(args.data, args.batch, rank)
    iterations = record.last or args.iterations
    with ThreadPoolExecutor(1) as summing:
        begin_s = time.perf_counter()
        for i in range(1, iterations + 1):
            loss, times = train_step(network, ring, summing, loader, samples_of_all)
            t, begin_s = begin_s, time.perf_counter()
            step_s = begin_s - t
            parts_s = sum(times[key] for key in ("wait_s", "copy_s", "forward_s", "backward_s", "optimizer_s"))
            record.write("iteration", i=i, t=t, step_s=step_s, rest_s=step_s - parts_s, **times)
            if i % 10 == 0 or i == 1:
                print(f"iteration {i}: loss {loss:.4f}", flush=True)
    record.write("loader", workers=1, fetch_s=loader.fetch_s[record.first - 1: record.last], batch_size=args.batch,
                 samples_fetched=args.batch * (record.last - record.first + 1))
    record.complete(iterations)


if __name__ == "__main__":
    main()
