"""Where the sample traces are, and how foretrain is run on them."""

import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FORETRAIN = os.environ.get("FORETRAIN", f"{ROOT}/build/gcc/foretrain")
SHARED = os.environ.get("FORETRAIN_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
KINETO = f"{SHARED}/data/kineto"


def skip_unless_there():
    if not os.path.exists(f"{KINETO}/EXPECTED.csv"):
        print(f"SKIPPED: no sample traces in {KINETO}; set FORETRAIN_SHARED")
        sys.exit(77)


def run(*words):
    return subprocess.run([FORETRAIN, *words], capture_output=True, text=True, check=False, timeout=120)


def import_profile(traces, *options):
    """The profile of traces (paths below data/kineto, or absolute)."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/profile.json"
        done = run("import", *(os.path.join(KINETO, trace) for trace in traces), "--device", "x", "-o", path, *options)
        assert done.returncode == 0, done.stderr
        with open(path, encoding="utf-8") as file:
            return json.load(file)
