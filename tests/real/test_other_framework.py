"""A training that is not PyTorch, from its command to the forecast: examples/other-framework."""

import os
import re
import shutil
import subprocess
import tempfile

from support import ROOT, TRAINING_PYTHON, RunTest, main

EXAMPLE = f"{ROOT}/examples/other-framework"
WIDTHS = (784, 1024, 512, 10)
LAYER_BYTES = [4 * (before + 1) * after for before, after in zip(WIDTHS, WIDTHS[1:])]

JOB = """
name: other
model:
  command: [{python}, train.py, "--data", "{{data}}", "--batch", "{{batch}}"]
data: {{path: data, samples: 100000}}
training: {{epochs: 2, iterations: [5, 20]}}
devices:
  fast: {{count: 4, data: 300 samples, batch: 32, hosts: "localhost:4", cpus: ["0", "1"]}}
  slow: {{count: 4, data: 300 samples, batch: 16, hosts: "localhost:4", cpus: ["0", "0"]}}
network: {{links: [{{between: [fast, fast], bandwidth: 10 Gbit/s}}, {{between: [slow, slow], bandwidth: 10 Gbit/s}},
                   {{between: [fast, slow], bandwidth: 10 Gbit/s}}]}}
launcher: {{kind: local, stall_timeout: 60 s}}
"""


class OtherFramework(RunTest):
    @classmethod
    def setUpClass(cls):
        cls.samples = tempfile.mkdtemp(prefix="foretrain-samples-")
        subprocess.run([TRAINING_PYTHON, f"{EXAMPLE}/make-data.py", f"{cls.samples}/data"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.samples)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="foretrain-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.symlink(f"{self.samples}/data", f"{self.folder}/data")
        for name in ("train.py", "ring.py", "record.py"):
            shutil.copy(f"{EXAMPLE}/{name}", self.folder)
        self.write("job.yaml", JOB.format(python=TRAINING_PYTHON))

    def losses(self, path):
        with open(os.path.join(self.folder, path), encoding="utf-8") as file:
            return [float(loss) for loss in re.findall(r"loss ([0-9.]+)", file.read())]

    def assert_is_the_examples(self, profile, kind):
        self.assertEqual(profile["framework"], "numpy")
        self.assertEqual(profile["subsystem"]["n"], 2)
        self.assertEqual([bucket["bytes"] for bucket in profile["buckets"]],
                         [LAYER_BYTES[2] + LAYER_BYTES[1], LAYER_BYTES[0]])
        self.assertEqual(profile["all_reduce"]["sent_bytes"], sum(LAYER_BYTES))  # 2 (n-1)/n, n = 2
        self.assertEqual(profile["stages"]["step_s"]["n"], 2 * 16)
        self.assertEqual(profile["inputs"]["command"].split()[:2], [TRAINING_PYTHON, "train.py"])
        self.assertNotIn("torch", profile["inputs"])
        for rank in range(2):
            losses = self.losses(f"runs/other/records/{kind}/rank{rank}.out")
            self.assertLess(losses[-1], 0.6 * losses[0])

    def test_is_measured_and_forecast_like_any_other(self):
        out, _ = self.foretrain("run", "job.yaml", "--json")
        forecast = self.load("runs/other/forecast.json")
        self.assertEqual(forecast["model"], "timeline")
        self.assertIn('"model": "timeline"', out)
        self.assertEqual(forecast["payload_bytes"], sum(LAYER_BYTES))
        for kind in ("fast", "slow"):
            self.assert_is_the_examples(self.load(f"runs/other/profiles/{kind}.json"), kind)
        for kind in forecast["types"]:
            self.assertTrue(kind["own_subsystem"]["known"])
            self.assertLess(abs(kind["own_subsystem"]["relative_error"]), 0.3, kind["name"])
        slowest_s = max(kind["own_subsystem"]["measured_s"] for kind in forecast["types"])
        self.assertGreater(forecast["step_s"], 0.75 * slowest_s)
        self.assert_nothing_left()

        _, err = self.foretrain("run", "job.yaml")
        self.assertEqual(err.count("measured already"), 2)
        with open(f"{self.folder}/train.py", "a", encoding="utf-8") as file:
            file.write("\n# edited\n")
        _, err = self.foretrain("measure", "job.yaml")
        self.assertIn("fast: train.py changed; measured again", err)

    def test_one_mixed_ring_of_two_types_and_batches(self):
        with open(f"{self.folder}/job.yaml", "a", encoding="utf-8") as file:
            file.write("subsystems: together\none_ring: true\n")
        self.foretrain("measure", "job.yaml")
        for kind, batch in (("fast", 32), ("slow", 16)):
            profile = self.load(f"runs/other/profiles/{kind}.json")
            self.assertEqual(profile["batch"], batch)
            self.assertEqual(profile["subsystem"]["ring_devices"], 4)
            self.assertEqual(profile["all_reduce"]["sent_bytes"], 2 * 3 / 4 * sum(LAYER_BYTES))

    def test_validate_trains_the_full_system(self):
        out, _ = self.foretrain("validate", "job.yaml", "--json", timeout=600)
        self.assertIn('"n_devices": 8', out)
        self.assertEqual(self.load("runs/other/validate/profiles/slow.json")["subsystem"]["ring_devices"], 8)

    def test_a_program_that_fails_is_quoted(self):
        self.write("train.py", 'import os, sys\nprint("no such accelerator", flush=True)\nsys.exit(3)\n')
        _, err = self.foretrain("measure", "job.yaml", status=5)
        self.assertIn("exited with status 3", err)
        self.assertIn("no such accelerator", err)
        self.assert_nothing_left()

    def test_a_program_that_writes_no_record_is_refused(self):
        self.write("train.py", 'print("trained", flush=True)\n')
        _, err = self.foretrain("measure", "job.yaml", status=5)
        self.assertIn("ended without completing its record", err)

    def test_a_program_that_hangs_is_ended(self):
        self.write("job.yaml", JOB.format(python=TRAINING_PYTHON).replace("60 s", "2 s"))
        self.write("train.py", "import time\ntime.sleep(600)\n")
        _, err = self.foretrain("measure", "job.yaml", status=5)
        self.assertIn("no progress for 2", err)
        self.assert_nothing_left()


if __name__ == "__main__":
    main()
