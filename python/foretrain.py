"""foretrain's forecasts and plans as plain dicts, for notebooks and scripts.

    import foretrain
    forecast = foretrain.predict("job.yaml")
    print(forecast["step_s"], forecast["epoch"]["total_s"])

Each function runs the command of its name with --json and returns what it printed; docs/formats.md has the
members. A job is a file's name, or a dict with the same keys (its relative paths begin in the current folder).
Options are keywords: `foretrain.size(job, deadline="14d")` is `foretrain size --deadline=14d`; True sets one that
takes no argument, and a list gives one several times.

What fails raises Error with the command's own text; what it only warns of is a Python warning.
"""

import json
import os
import subprocess
import warnings

__version__ = "0.1.0"

program = "foretrain"
"""The command that is run: a name on PATH, or a path."""


class Error(Exception):
    """A command failed. `status` is its exit status; `result` what it printed nevertheless, such as doctor's checks."""

    def __init__(self, text, status, result=None):
        super().__init__(text)
        self.status = status
        self.result = result


def predict(job, **options):
    """Forecast from what is measured or given."""
    return call("predict", job, **options)


def explain(job, **options):
    """Where the forecast's step goes, and what would help most."""
    return call("explain", job, **options)


def run(job, **options):
    """Measure what is not measured yet, then forecast."""
    return call("run", job, **options)


def validate(job, **options):
    """Run the full system too, and set the forecast beside the truth."""
    return call("validate", job, **options)


def doctor(job, **options):
    """Check whether a job can run, here and on its hosts; Error where it cannot, with the checks as its result."""
    return call("doctor", job, **options)


def bandwidth(job, **options):
    """Measure the bandwidth between devices; with plan=True only what would be measured."""
    return call("bandwidth", job, **options)


def sweep(job, vary, **options):
    """Forecast every combination of the values that `vary` gives: {"a100.count": "0:200:10"}, or a list of values."""
    values = [f"{path}={_joined(value)}" for path, value in vary.items()]
    return call("sweep", job, vary=values, **options)


def order(job, **options):
    """The ring order with the smallest step."""
    return call("order", job, **options)


def split(job, **options):
    """Mini-batches by device type, for a balanced step."""
    return call("split", job, **options)


def size(job, **options):
    """How many of which devices, for a deadline or a budget; Error where nothing meets it."""
    return call("size", job, **options)


def compare(a, b, **options):
    """Two jobs or runs: what differs, and what that does to the step."""
    return call("compare", a, b, **options)


def show(path, **options):
    """A profile, a network, or the forecast of a run's folder."""
    return call("show", path, **options)


def import_traces(*traces, device, **options):
    """A profile of device type `device` from traces of PyTorch's profiler."""
    return call("import", *traces, device=device, **options)


def call(command, *words, **options):
    """Any command that has --json, by name."""
    given = [word for word in words if isinstance(word, dict)]
    if len(given) > 1:
        raise TypeError(f"{command}: only one job can be a dict")
    done = _run(
        [program, command, "--json", *_flags(options), "--", *("-" if isinstance(word, dict) else os.fspath(word) for word in words)],
        json.dumps(given[0], ensure_ascii=False) if given else "",
    )
    said = done.stderr.strip()
    result = json.loads(done.stdout) if done.stdout else None
    if done.returncode != 0:
        raise Error(said or f"foretrain {command} ended with {done.returncode}", done.returncode, result)
    if said:
        warnings.warn(said, stacklevel=3)
    return result


def _run(command, text):
    try:
        return subprocess.run(command, input=text, capture_output=True, encoding="utf-8")
    except FileNotFoundError:
        raise Error(f"there is no command '{program}' on PATH: install foretrain, or set foretrain.program", 127) from None


def _flags(options):
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            yield flag
        elif isinstance(value, (list, tuple)):
            yield from (f"{flag}={one}" for one in value)
        elif value is not None and value is not False:
            yield f"{flag}={value}"


def _joined(value):
    return ",".join(map(str, value)) if isinstance(value, (list, tuple, range)) else str(value)
