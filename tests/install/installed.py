"""foretrain, installed into a folder that goes when the tests end."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Installed(unittest.TestCase):
    """`prefix` holds what `cmake --install` put there."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.folder.name)
        output(["cmake", "--install", os.environ["FORETRAIN_BUILD"], "--prefix", str(cls.prefix)])
        cls.program = str(cls.prefix / "bin" / "foretrain")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()


def output(command, **options):
    """What it prints; fails with all that it said."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout
