"""The main job end to end: real PyTorch training on this machine, measured, forecast, gone on with, interrupted."""

import json
import os
import re
import signal
import subprocess
import time

from support import FORETRAIN, RunTest, main

JOB = """
name: small
model: {{script: train.py, args: ["--data", "{{data}}", "--batch-size", "{{batch}}"]}}
data: {{path: data, samples: 1000000}}
training: {{epochs: 2, iterations: [5, 24], profiled: 5}}
devices:
  fast: {{count: 4, data: 300 samples, batch: {batch}, hosts: "localhost:4", cpus: ["0", "1"]}}
  slow: {{count: 4, data: 300 samples, batch: 16, hosts: "localhost:4", cpus: ["0", "0"]}}
launcher: local
"""

STAGES = ("wait_s", "copy_s", "forward_s", "backward_s", "optimizer_s", "rest_s")


class MainJob(RunTest):
    def test_measures_forecasts_and_goes_on(self):
        self.write("job.yaml", JOB.format(batch=16))
        out, _ = self.foretrain("run", "job.yaml")
        for word in ("fast", "slow", "all-reduce", "iterations", "total"):
            self.assertIn(word, out.lower())
        self.assert_nothing_left()

        for name in ("fast", "slow"):
            with self.subTest(profile=name):
                self.check_profile(self.load(f"runs/small/profiles/{name}.json"))
        self.check_forecast(self.load("runs/small/forecast.json"))
        with open(f"{self.folder}/runs/small/network.csv", encoding="utf-8") as file:
            self.assertRegex(file.read(), r"localhost,localhost,\d.*measured")

        with open(f"{self.folder}/runs/small/report.html", encoding="utf-8") as file:
            self.assertIn('<section id="timeline">', file.read())

        self.check_nothing_is_measured_twice()
        self.check_only_what_changed_is_measured_again()

    def check_profile(self, profile, alone=True):
        self.assertEqual(profile["format"], "foretrain.profile/1")
        self.assertEqual(profile["basis"], "measured")
        stages = {key: stage["mean"] for key, stage in profile["stages"].items()}
        self.assertEqual(profile["stages"]["step_s"]["n"] + 2 * profile["window"]["left_out"], 2 * 20)
        self.assertAlmostEqual(sum(stages[key] for key in STAGES), stages["step_s"], delta=1e-6)
        self.assertLess(stages["rest_s"], 0.05 * stages["step_s"])
        self.assertLess(stages["first_backward_s"], stages["backward_s"])
        reduced = profile["all_reduce"]
        self.assertEqual(reduced["basis"], "measured")
        self.assertAlmostEqual(reduced["sent_bytes"] / reduced["gradient_bytes"], 1, delta=0.02)
        self.assertEqual(reduced["gradient_bytes"], profile["model"]["gradient_bytes"]["float32"])
        if alone:
            self.assertAlmostEqual(reduced["interface_sent_bytes"] / reduced["sent_bytes"], 1, delta=0.08)
        else:
            self.assertNotIn("interface_sent_bytes", reduced)

    def check_forecast(self, forecast):
        self.assertEqual(forecast["format"], "foretrain.forecast/1")
        self.assertEqual(forecast["n_devices"], 8)
        self.assertEqual(forecast["epoch"]["iterations"], 7813)  # ceil(1000000 / (8 * 16))
        self.assertAlmostEqual(forecast["epoch"]["total_s"] / forecast["step_s"], 2 * 7813, delta=1e-3)
        self.assertEqual(forecast["model"], "timeline")
        interval = forecast["timeline"]["step_s"]
        self.assertTrue(interval["p10"] < forecast["step_s"] < interval["p90"], interval)
        for each in forecast["types"]:
            self.assertTrue(each["timeline"]["ceilings"]["known"])
            self.assertLess(abs(each["own_subsystem"]["relative_error"]), 0.25)

    def check_nothing_is_measured_twice(self):
        before = os.stat(f"{self.folder}/runs/small/records/fast/rank0.jsonl").st_mtime_ns
        out, err = self.foretrain("run", "--json", "job.yaml")
        self.assertEqual(os.stat(f"{self.folder}/runs/small/records/fast/rank0.jsonl").st_mtime_ns, before)
        self.assertIn("kept", err)
        self.assertIn('"foretrain.forecast/1"', out)

    def check_only_what_changed_is_measured_again(self):
        self.write("job.yaml", JOB.format(batch=8))
        slow = os.stat(f"{self.folder}/runs/small/records/slow/rank0.jsonl").st_mtime_ns
        _, err = self.foretrain("measure", "job.yaml")
        self.assertRegex(err, r"fast: .*batch.*16.*8")
        self.assertEqual(os.stat(f"{self.folder}/runs/small/records/slow/rank0.jsonl").st_mtime_ns, slow)
        self.assertEqual(self.load("runs/small/profiles/fast.json")["batch"], 8)

    def test_ctrl_c_leaves_nothing_behind_and_keeps_what_was_measured(self):
        self.write("job.yaml", JOB.format(batch=16))
        run = subprocess.Popen(
            [FORETRAIN, "run", "job.yaml"], cwd=self.folder, env=self.environment(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        deadline = time.monotonic() + 120
        while not os.path.exists(f"{self.folder}/runs/small/records/slow/rank0.jsonl.part"):
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(run.poll())
            time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 128 + signal.SIGINT)
        self.assertIn("interrupted", err)
        self.assert_nothing_left()
        self.assertTrue(os.path.exists(f"{self.folder}/runs/small/profiles/fast.json"))
        self.assertFalse(os.path.exists(f"{self.folder}/runs/small/profiles/slow.json"))
        _, err = self.foretrain("run", "job.yaml")
        self.assertRegex(err, r"fast: .*kept")

    def test_a_crash_shows_the_last_lines_and_ends_all(self):
        self.write("bad.py", "import sys, time, os\nprint('noise ' * 5)\n"
                   "if os.environ['RANK'] == '0': time.sleep(600)\nraise ValueError('no such card')\n")
        self.write("job.yaml", JOB.format(batch=16).replace("train.py", "bad.py"))
        started = time.monotonic()
        _, err = self.foretrain("measure", "job.yaml", status=5)
        self.assertLess(time.monotonic() - started, 60)
        self.assertIn("ValueError: no such card", err)
        self.assertIn("fast", err)
        self.assertIn("rank1.out", err)
        self.assert_nothing_left()

    def test_a_script_that_hangs_ends_at_its_deadline(self):
        self.write("bad.py", "import time\nprint('waiting for Godot', flush=True)\ntime.sleep(600)\n")
        job = JOB.format(batch=16).replace("train.py", "bad.py")
        self.write("job.yaml", job.replace("launcher: local", "launcher: {kind: local, stall_timeout: 5 s}"))
        _, err = self.foretrain("measure", "job.yaml", status=5, timeout=60)
        self.assertIn("did not finish", err)
        self.assertIn("waiting for Godot", err)
        self.assert_nothing_left()

    def test_a_script_that_ends_early_is_told_how_far_it_came(self):
        self.write("job.yaml", JOB.format(batch=16).replace('"{batch}"]', '"{batch}", "--epochs", "1"]')
                   .replace("300 samples", "100 samples"))
        _, err = self.foretrain("measure", "job.yaml", status=5)
        self.assertRegex(err, r"the script ended; \d+ iterations were done, the window needs 24")

    def test_one_mixed_ring_keeps_each_types_stages(self):
        self.write("job.yaml", JOB.format(batch=16) + "subsystems: together\none_ring: true\n")
        self.foretrain("measure", "job.yaml")
        for name in ("fast", "slow"):
            profile = self.load(f"runs/small/profiles/{name}.json")
            self.assertEqual(profile["subsystem"]["ring_devices"], 4)
            reduced = profile["all_reduce"]
            self.assertAlmostEqual(reduced["sent_bytes"] / (1.5 * reduced["gradient_bytes"]), 1, delta=0.02)
        self.assert_nothing_left()

    def test_together_records_when_all_are_ready_and_trains_until_all_are_complete(self):
        self.write("job.yaml", JOB.format(batch=4) + "subsystems: together\n")
        _, err = self.foretrain("measure", "job.yaml")
        self.assertNotIn("error", err)
        for name in ("fast", "slow"):
            self.check_profile(self.load(f"runs/small/profiles/{name}.json"), alone=False)
        self.assertGreater(self.trained_beyond("fast"), self.trained_beyond("slow"))
        self.assert_nothing_left()

    def trained_beyond(self, name):
        """Iterations without a line in the record, which a rank trained while it waited for the others' end."""
        with open(f"{self.folder}/runs/small/records/{name}/rank0.jsonl", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        return lines[-1]["iterations"] - sum(line["kind"] == "iteration" for line in lines)


ENTRY = """
import torch
from torch import nn

def build(width=32):
    model = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))
    data = torch.utils.data.TensorDataset(torch.randn(2000, 64), torch.randint(0, 10, (2000,)))
    return model, nn.CrossEntropyLoss(), torch.optim.Adam(model.parameters()), data
"""

WITHOUT_SCRIPT = """
name: built
model: {model}
data: {{samples: 100000, {data}}}
training: {{iterations: [5, 24], profiled: 3}}
devices:
  only: {{count: 3, data: 400 samples, batch: 16, hosts: "localhost:3"}}
launcher: local
"""


class WithoutAScript(RunTest):
    def test_an_entry_function_is_trained(self):
        self.write("net.py", ENTRY)
        self.write("job.yaml", WITHOUT_SCRIPT.format(
            model="{entry: 'net.py:build', args: {width: 256}}", data="seed: 3"))
        self.foretrain("measure", "job.yaml")
        profile = self.load("runs/built/profiles/only.json")
        self.assertEqual(profile["model"]["parameters"], 64 * 256 + 256 + 256 * 10 + 10)
        self.assertIn("Adam", str(profile["model"]["optimizer"]))
        shown, _ = self.foretrain("show", "runs/built/profiles/only.json")
        self.assertIn("Linear", shown)

    def test_layers_are_built_and_trained(self):
        layers = ("{input: [3, 32, 32], layers: [{kind: conv2d, out: 8, kernel: 3, activation: relu}, "
                  "{kind: flatten}, {kind: linear, out: 10}], loss: cross_entropy, optimizer: {kind: sgd, lr: 0.1}}")
        self.write("job.yaml", WITHOUT_SCRIPT.format(model=layers, data="path: data"))
        out, err = self.foretrain("run", "job.yaml")
        self.assertTrue(re.search("total", out, re.I), out)
        self.assertIn("Conv2d", self.foretrain("show", "runs/built/profiles/only.json")[0])


if __name__ == "__main__":
    main()
