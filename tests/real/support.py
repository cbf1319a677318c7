"""What the tests of whole runs share: a quickstart-like job in a folder of its own, and running foretrain on it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FORETRAIN = os.environ.get("FORETRAIN", os.path.join(ROOT, "build/gcc/foretrain"))
TRAINING_PYTHON = "/usr/bin/python3"


def processes_of(folder):
    """Command lines of all processes that name the folder: what foretrain may have left behind."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode(errors="replace")
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = file.read().decode(errors="replace")
        except OSError:
            continue
        if int(pid) != os.getpid() and (folder in command or folder in environment):
            found.append(command)
    return found


class RunTest(unittest.TestCase):
    """A folder with the quickstart's script and pictures, and a job that each test writes."""

    @classmethod
    def setUpClass(cls):
        cls.pictures = tempfile.mkdtemp(prefix="foretrain-pictures-")
        subprocess.run(
            [TRAINING_PYTHON, f"{ROOT}/examples/quickstart/make-data.py", f"{cls.pictures}/data"], check=True
        )

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.pictures)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="foretrain-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.symlink(f"{self.pictures}/data", f"{self.folder}/data")
        shutil.copy(f"{ROOT}/examples/quickstart/train.py", self.folder)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def environment(self):
        environment = {**os.environ, "TMPDIR": self.folder}
        environment.pop("FORETRAIN_PYTHON", None)
        return environment

    def foretrain(self, *args, status=0, timeout=300):
        """Runs a command in the folder; returns (stdout, stderr)."""
        done = subprocess.run(
            [FORETRAIN, *args], cwd=self.folder, env=self.environment(), capture_output=True, text=True,
            timeout=timeout, check=False,
        )
        self.assertEqual(done.returncode, status, f"{args}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def load(self, path):
        with open(os.path.join(self.folder, path), encoding="utf-8") as file:
            return json.load(file)

    def assert_nothing_left(self):
        self.assertEqual(processes_of(self.folder), [])


def main():
    sys.exit(unittest.main(verbosity=2))
