#!/usr/bin/python3
"""A training under the worker profiles its own steps: the traces import to what the worker measured of the same steps."""

import importlib.util
import json
import os
import re
import statistics
import sys
import tempfile
import unittest

from samples import ROOT, import_profile

sys.path.insert(0, f"{ROOT}/tests/worker")
from launching import Launch, mean  # noqa: E402  pylint: disable=wrong-import-position

FIRST, N = 8, 12
STAGES = ("step_s", "forward_s", "backward_s", "backward_compute_s", "optimizer_s")
CLOSE, CLOSE_S = 0.02, 0.3e-3


def first_number(trace):
    """torch's versions number the same step differently."""
    with open(trace, encoding="utf-8") as file:
        read = json.load(file)
    events = read["traceEvents"] if isinstance(read, dict) else read
    return min(int(event["name"].split("#")[1]) for event in events if event["name"].startswith("ProfilerStep"))


def left_out(profile):
    """Numbers of the trace's steps that do not count in any rank."""
    numbers = set()
    for note in profile["notes"]:
        found = re.search(r"steps left out, [^:]*: ([\d, ]+)$", note)
        numbers |= {int(each) for each in found.group(1).split(",")} if found else set()
    return numbers


class WorkerTraces(unittest.TestCase):
    """One training, seen from both sides."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        command = [f"{ROOT}/tests/import/profiled.py", cls.folder.name, str(FIRST), str(N)]
        with Launch(command, first=FIRST, last=FIRST + N - 2, batch=16, batch_by_rank=[16, 16]) as launch:
            statuses = launch.wait()
            assert statuses == [0, 0], launch.output()
            cls.records = [launch.record(rank) for rank in range(2)]
        traces = [os.path.join(cls.folder.name, f"rank{rank}.json") for rank in range(2)]
        cls.first_number = first_number(traces[0])
        cls.profile = import_profile(traces, "--batch", "16", "--grad-bytes", f"{3 * 512 * 512 * 4} B")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def common(self):
        """(iteration of the record, index among the profile's samples of a device) of steps that both count."""
        gone = left_out(self.profile)
        counted = [k for k in range(N) if self.first_number + k not in gone]
        return [(FIRST + k, index) for index, k in enumerate(counted) if FIRST + k <= FIRST + N - 2]

    def test_stages_are_what_the_worker_measured(self):
        pairs = self.common()
        self.assertGreaterEqual(len(pairs), 4)
        for stage in STAGES:
            samples = self.profile["stages"][stage]["samples"]
            per_device = len(samples) // 2
            for rank in range(2):
                lines = {line["i"]: line for line in self.records[rank].iterations}
                measured = mean(lines[i][stage] for i, _ in pairs)
                apart = statistics.median(samples[rank * per_device + k] - lines[i][stage] for i, k in pairs)
                with self.subTest(stage=stage, rank=rank):
                    self.assertLess(abs(apart), CLOSE * measured + CLOSE_S, measured)

    def test_buckets_are_the_workers(self):
        buckets = self.records[0].iterations[-1]["buckets"]
        self.assertEqual(len(self.profile["buckets"]), len(buckets))
        self.assertAlmostEqual(self.profile["all_reduce"]["gradient_bytes"], sum(bucket["bytes"] for bucket in buckets), places=3)


if __name__ == "__main__":
    if not importlib.util.find_spec("torch"):
        print("SKIPPED: no torch")
        sys.exit(77)
    unittest.main()
