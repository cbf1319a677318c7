"""The specification read, the record written: foretrain.spec/1 and foretrain.record/1 of docs/formats.md."""

import json
import os
import time

SPEC_VARIABLE = "FORETRAIN_SPEC"
SPEC_FORMAT = "foretrain.spec/1"
RECORD_FORMAT = "foretrain.record/1"

_DEFAULTS = {
    "record_dir": None, "device_type": "", "types_by_rank": [], "n_devices": None, "first": 20, "last": 100,
    "n_profiled": 0, "device": "cpu", "backend": "", "batch": None, "batch_by_rank": [], "seed": 0,
    "end_timeout_s": 30.0, "data": None, "model": {"kind": "script"}, "together": None,
}


class Spec:
    """What to watch. Attributes are the keys of foretrain.spec/1."""

    def __init__(self, values):
        if values.get("format") != SPEC_FORMAT:
            raise ValueError("format is %r, not %r" % (values.get("format"), SPEC_FORMAT))
        for key, default in _DEFAULTS.items():
            value = values.get(key)
            setattr(self, key, default if value is None else value)
        if not self.record_dir:
            raise ValueError("record_dir is missing")

    def type_of(self, rank):
        return self.types_by_rank[rank] if rank < len(self.types_by_rank) else self.device_type

    def batch_of(self, rank):
        return self.batch_by_rank[rank] if rank < len(self.batch_by_rank) else self.batch


def load_spec(path=None):
    """Read the specification that FORETRAIN_SPEC names. Raises ValueError or OSError."""
    with open(path or os.environ[SPEC_VARIABLE], encoding="utf-8") as file:
        return Spec(json.load(file))


def _json_line(line):
    return json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n"


class Record:
    """One rank's record: lines held back until the header is known, then written and flushed as they come."""

    def __init__(self, record_dir):
        self._dir = record_dir
        self._file = None
        self._held = []
        self._notes = set()
        self._header_bytes = 0
        self.path = None

    def open(self, rank, header):
        """Create rankN.jsonl.part (mode 0600) and write the header, then all that was held back."""
        self.path = os.path.join(self._dir, "rank%d.jsonl" % rank)
        descriptor = os.open(self.path + ".part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._file = os.fdopen(descriptor, "w", encoding="utf-8")
        line = {"kind": "header", "format": RECORD_FORMAT}
        line.update(header)
        line["date"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.write(line)
        self._header_bytes = self._file.tell()
        held, self._held = self._held, []
        for each in held:
            self.write(each)

    @property
    def is_open(self):
        return self._file is not None

    def write(self, line):
        if self._file is None:
            self._held.append(line)
            return
        self._file.write(_json_line(line))
        self._file.flush()

    def write_over(self, line):
        """Where the disk is full: give up what follows the header, so that there is room for this last line."""
        descriptor = os.open(self.path + ".part", os.O_WRONLY | os.O_APPEND)
        os.ftruncate(descriptor, self._header_bytes)
        os.write(descriptor, _json_line(line).encode())
        os.close(descriptor)

    def note(self, text):
        """Say something to the reader of the forecast, once."""
        if text not in self._notes:
            self._notes.add(text)
            self.write({"kind": "note", "text": text})

    def complete(self, n_iterations):
        """Write the last line and give the file its final name."""
        self.write({"kind": "end", "iterations": n_iterations, "reason": "window complete"})
        self._file.close()
        os.rename(self.path + ".part", self.path)
