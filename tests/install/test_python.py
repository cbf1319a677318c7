"""The Python module, installed by pip into a virtual environment with Debian's setuptools."""

import importlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import warnings

from installed import ROOT, Installed, output

JOB = str(ROOT / "examples/resnet50-200/job.yaml")
INSTALL = ["-m", "pip", "--quiet", "install", "--no-build-isolation", "--no-index"]


class Python(Installed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.python = str(cls.prefix / "venv/bin/python")
        shutil.copytree(ROOT / "python", cls.prefix / "python")  # pip writes beside what it installs
        output(["/usr/bin/python3", "-m", "venv", cls.prefix / "venv"])
        output([cls.python, *INSTALL, cls.prefix / "python"], cwd="/")
        sys.path.insert(0, str(next(cls.prefix.glob("venv/lib/python3*/site-packages"))))
        cls.foretrain = importlib.import_module("foretrain")
        cls.foretrain.program = cls.program

    def setUp(self):
        caught = warnings.catch_warnings(record=True)
        self.warned = caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("always")

    def command(self, *words):
        return json.loads(output(["sh", "-c", 'exec "$@" 2>/dev/null', "sh", self.program, *words]))

    def test_is_the_installed_module_of_the_same_version(self):
        self.assertTrue(self.foretrain.__file__.startswith(str(self.prefix)))
        self.assertEqual(output([self.program, "--version"]), f"foretrain {self.foretrain.__version__}\n")

    def test_returns_what_the_command_prints(self):
        self.assertEqual(self.foretrain.predict(JOB), self.command("predict", "--json", JOB))
        self.assertEqual(self.foretrain.order(JOB), self.command("order", "--json", JOB))
        self.assertEqual(self.foretrain.compare(JOB, JOB), self.command("compare", "--json", JOB, JOB))
        self.assertEqual(self.foretrain.show(pathlib.Path(JOB).parent / "profiles/a100.json")["device_type"], "a100")

    def test_takes_options_as_keywords(self):
        wanted = self.command("split", "--json", "--fastest", "--model=closed-form", JOB)
        self.assertEqual(self.foretrain.split(JOB, fastest=True, model="closed-form", quiet=None), wanted)

    def test_sweeps_several_quantities(self):
        columns = self.foretrain.sweep(JOB, {"a100.count": range(0, 30, 10), "mlu370.count": "1:2:1"})["columns"]
        self.assertEqual(columns["a100.count"], [0, 0, 10, 10, 20, 20])
        self.assertEqual(columns["mlu370.count"], [1, 2, 1, 2, 1, 2])

    def test_takes_a_job_from_a_dict(self):
        device = {"count": 2, "data": "1 GB", "batch": 64, "device": "cuda", "profile": "profiles/a100.json"}
        job = {
            "name": "two",
            "data": {"size": "1 TB", "sample_size": "110 kB"},
            "training": {"epochs": 1},
            "devices": {"a100": device},
            "network": {"links": [{"between": ["a100", "a100"], "bandwidth": "1 Gbit/s", "latency": "5 us"}]},
        }
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(pathlib.Path(JOB).parent)
        self.assertEqual(self.foretrain.predict(job)["n_devices"], 2)
        device["count"] = 3
        self.assertEqual(self.foretrain.predict(job)["n_devices"], 3)
        with tempfile.TemporaryDirectory() as folder:
            device["profile"] = str(shutil.copy("profiles/a100.json", f"{folder}/zwölf 😀.json"))
            self.assertEqual(self.foretrain.predict(job)["n_devices"], 3)

    def test_refuses_a_trace_in_the_result_s_place(self):
        with self.assertRaisesRegex(self.foretrain.Error, "--trace is to a file") as raised:
            self.foretrain.predict(JOB, trace="-")
        self.assertEqual(raised.exception.status, 2)

    def test_raises_the_command_s_own_text(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as job:
            job.write("devices: 3\n")
            job.flush()
            with self.assertRaisesRegex(self.foretrain.Error, f"{job.name}:1:10: ") as raised:
                self.foretrain.predict(job.name)
        self.assertEqual(raised.exception.status, 3)
        self.assertIsNone(raised.exception.result)
        with self.assertRaisesRegex(self.foretrain.Error, "did you mean '--model'"):
            self.foretrain.predict(JOB, modle="timeline")

    def test_keeps_the_result_of_a_check_that_failed(self):
        with self.assertRaises(self.foretrain.Error) as raised:
            self.foretrain.size(JOB, deadline="1h")
        self.assertEqual(raised.exception.status, 1)
        self.assertIsNone(raised.exception.result["best"])

    def test_passes_warnings_on(self):
        self.foretrain.predict(JOB)
        self.assertIn("nobody measured it", str(self.warned[0].message))
        self.assertEqual(self.warned[0].filename, __file__)

    def test_says_how_to_find_a_missing_command(self):
        self.addCleanup(setattr, self.foretrain, "program", self.program)
        self.foretrain.program = "no-such-foretrain"
        with self.assertRaisesRegex(self.foretrain.Error, "no-such-foretrain.*foretrain.program"):
            self.foretrain.predict(JOB)

    def test_example_answers_its_questions(self):
        path = {"PATH": f"{self.prefix}/bin:/usr/bin:/bin", "PYTHONWARNINGS": "ignore"}
        said = output([self.python, ROOT / "python/example.py", JOB], env=path)
        forecast = self.command("predict", "--json", JOB)
        self.assertIn(f"A step takes {forecast['step_s']:.4f} s", said)
        self.assertIn(f"takes {forecast['epoch']['total_s'] / 86400:.1f} days", said)
        best = self.command("size", "--json", "--deadline=14d", JOB)["best"]
        self.assertIn(f"Done in 14d: {best['count']}", said)
        self.assertIn("Not to be done in 1h: ", said)


if __name__ == "__main__":
    unittest.main()
