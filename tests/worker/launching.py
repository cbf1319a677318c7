"""Starts the ranks of a sub-system as foretrain's launcher does, and reads what they recorded."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WORKER = os.path.join(os.path.dirname(os.path.dirname(HERE)), "worker")
SCRIPTS = os.path.join(HERE, "scripts")
LOOP = os.path.join(WORKER, "loop.py")

sys.path.insert(0, WORKER)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Launch:
    """The ranks of one sub-system, running; use it as a context so that none outlives the test."""

    def __init__(self, command, n=2, one_process=False, environment=None, **spec):
        self.folder = tempfile.TemporaryDirectory(prefix="foretrain-worker-test-")
        self.record_dir = self.folder.name
        values = {
            "format": "foretrain.spec/1", "record_dir": self.record_dir, "device_type": "fast",
            "types_by_rank": ["fast"] * n, "n_devices": n, "first": 4, "last": 12, "n_profiled": 0,
            "device": "cpu", "backend": "", "batch": 32, "batch_by_rank": [32] * n, "seed": 1,
            "end_timeout_s": 20, "data": None, "model": {"kind": "script"}, "together": None,
        }
        values.update(spec)
        spec_path = os.path.join(self.record_dir, "spec.json")
        with open(spec_path, "w", encoding="utf-8") as file:
            json.dump(values, file)
        port = free_port()
        self.processes = []
        self._outputs = []
        for rank in range(1 if one_process else n):
            variables = dict(
                os.environ, FORETRAIN_SPEC=spec_path, PYTHONPATH=os.path.join(WORKER, "hook"),
                MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1",
            )
            if not one_process:
                variables.update(
                    RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(n), LOCAL_WORLD_SIZE=str(n), GROUP_RANK="0"
                )
            variables.update(environment or {})
            output = tempfile.TemporaryFile()
            self._outputs.append(output)
            self.processes.append(
                subprocess.Popen(
                    [sys.executable, "-u"] + command, env=variables, stdin=subprocess.DEVNULL, stdout=output,
                    stderr=subprocess.STDOUT, start_new_session=True,
                )
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        for output in self._outputs:
            output.close()
        self.folder.cleanup()

    def wait(self, timeout_s=90):
        """Exit statuses of all processes."""
        deadline = time.monotonic() + timeout_s
        return [process.wait(max(deadline - time.monotonic(), 0.1)) for process in self.processes]

    def output(self, index=0):
        self._outputs[index].seek(0)
        return self._outputs[index].read().decode(errors="replace")

    def record(self, rank=0):
        return read_record(os.path.join(self.record_dir, "rank%d.jsonl" % rank))

    def partial_record(self, rank=0):
        return read_record(os.path.join(self.record_dir, "rank%d.jsonl.part" % rank))

    def files(self):
        return sorted(os.listdir(self.record_dir))


class Record:
    def __init__(self, lines):
        self.lines = lines

    def of_kind(self, kind):
        return [line for line in self.lines if line["kind"] == kind]

    def one(self, kind):
        (line,) = self.of_kind(kind)
        return line

    @property
    def iterations(self):
        return self.of_kind("iteration")

    def inner(self, first, last):
        """The counted iterations that are not at an edge."""
        return [line for line in self.iterations if first <= line["i"] <= last and not line["edge"]]

    @property
    def notes(self):
        return [line["text"] for line in self.of_kind("note")]


def read_record(path):
    with open(path, encoding="utf-8") as file:
        return Record([json.loads(line) for line in file])


def script(name, *arguments):
    return [os.path.join(SCRIPTS, name)] + [str(each) for each in arguments]


def mean(values):
    values = list(values)
    return sum(values) / len(values)
