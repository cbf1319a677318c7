"""Writes foretrain.record/1 as docs/formats.md, "The worker's record", defines it. Nothing of it is foretrain's code."""

import datetime
import json
import os
import platform
import socket


class NoRecord:
    """For a training that nobody measures."""

    first, last = 1, 0

    def write(self, kind, **values):
        pass

    def complete(self, iterations):
        pass


class Record:
    def __init__(self, spec, rank):
        self.first, self.last = spec["first"], spec["last"]
        self._path = os.path.join(spec["record_dir"], f"rank{rank}.jsonl")
        self._file = open(self._path + ".part", "w", encoding="utf-8")
        self.write(
            "header", format="foretrain.record/1", device_type=spec["device_type"], rank=rank,
            world_size=spec["n_devices"], host=socket.gethostname(), pid=os.getpid(),
            device={"kind": "cpu", "name": platform.processor() or platform.machine(), "index": None},
            backend="tcp ring", framework="numpy", python=platform.python_version(),
            date=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            first=self.first, last=self.last, batch=spec["batch_by_rank"][rank], clock="cpu",
        )

    def write(self, kind, **values):
        self._file.write(json.dumps({"kind": kind, **values}, allow_nan=False) + "\n")
        self._file.flush()

    def complete(self, iterations):
        self.write("end", iterations=iterations, reason="window complete")
        self._file.close()
        os.rename(self._path + ".part", self._path)


def read_spec():
    """What foretrain wants to know, or None."""
    path = os.environ.get("FORETRAIN_SPEC")
    if not path:
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)
