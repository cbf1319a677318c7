"""Scripts and pythons as people have them, through the whole command."""

import os
import shutil
import subprocess

from support import ROOT, TRAINING_PYTHON, RunTest, main

JOB = """
name: kinds
model: {{{model}}}
data: {{{data}}}
training: {{iterations: [4, 13], profiled: 2}}
devices:
  only: {{count: 3, batch: 16, {device}hosts: "localhost:3"}}
network: {{links: [{{between: [only, only], bandwidth: 1 Gbit/s}}]}}
"""

# Reads one path a line, as training scripts with list files do; each rank has its own list.
LIST_SCRIPT = """
import sys, torch, numpy, os
from PIL import Image
from torch.utils.data import Dataset, DataLoader

class Listed(Dataset):
    def __init__(self, list_file):
        folder = os.path.dirname(list_file)
        self.files = [os.path.join(folder, line.strip()) for line in open(list_file)]
    def __len__(self):
        return len(self.files)
    def __getitem__(self, i):
        return torch.from_numpy(numpy.array(Image.open(self.files[i]))).flatten().float() / 255

torch.distributed.init_process_group("gloo")
data = Listed(sys.argv[1])
print("samples", len(data), flush=True)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3072, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
while True:
    for batch in DataLoader(data, 16):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
"""


class Scripts(RunTest):
    def job(self, model, data="samples: 100000", device=""):
        self.write("job.yaml", JOB.format(model=model, data=data, device=device))

    def test_a_script_that_spawns_its_own_ranks(self):
        shutil.copy(f"{ROOT}/tests/worker/scripts/spawn_ranks.py", self.folder)
        self.job('script: spawn_ranks.py, spawns_ranks: true, '
                 'args: ["--world-size", "{n_devices}", "--port", "{master_port}"]')
        self.foretrain("measure", "job.yaml")
        profile = self.load("runs/kinds/profiles/only.json")
        self.assertEqual(profile["subsystem"]["n"], 2)
        parameters = 256 * 1024 + 1024 + 1024 * 8 + 8
        self.assertEqual(profile["all_reduce"]["gradient_bytes"], 4 * parameters)
        self.assertEqual(profile["model"]["loss"], "mse")
        self.assert_nothing_left()

    def test_each_device_gets_its_own_list(self):
        self.write("listed.py", LIST_SCRIPT)
        with open(f"{self.folder}/files.txt", "w", encoding="utf-8") as file:
            for name in sorted(os.listdir(f"{self.folder}/data/class3")):
                file.write(f"data/class3/{name}\n")
        self.job('script: listed.py, args: ["{device_data}"]', "list: files.txt, samples: 300", "data: 90 samples, ")
        self.foretrain("measure", "job.yaml")
        lists = []
        for rank in range(2):
            with open(f"{self.folder}/runs/kinds/records/only/rank{rank}.out", encoding="utf-8") as file:
                self.assertIn("samples 90", file.read())
            with open(f"{self.folder}/runs/kinds/data/only/device{rank}.txt", encoding="utf-8") as file:
                lists.append({os.path.basename(line) for line in file})
        self.assertEqual(len(lists[0] | lists[1]), 180)

    def test_a_training_set_that_is_too_small_says_by_how_much(self):
        self.job('script: train.py, args: ["--data", "{data}"]', "path: data, samples: 100000",
                 "data: 2000 samples, ")
        _, err = self.foretrain("measure", "job.yaml", status=3)
        self.assertIn("4,000", err)
        self.assertIn("1,000", err)

    def test_the_python_of_a_virtual_environment_is_used(self):
        subprocess.run([TRAINING_PYTHON, "-m", "venv", "--without-pip", "--system-site-packages",
                        f"{self.folder}/venv"], check=True)
        self.job('script: train.py, args: ["--data", "{data}", "--batch-size", "{batch}"]',
                 "path: data, samples: 100000", "data: 300 samples, python: venv/bin/python, ")
        self.foretrain("measure", "job.yaml")
        inputs = self.load("runs/kinds/profiles/only.json")["inputs"]
        self.assertTrue(inputs["python"].endswith("venv/bin/python"), inputs["python"])

    def test_a_python_without_torch_is_passed_over_with_a_word(self):
        os.mkdir(f"{self.folder}/bin")
        self.write("bin/python3", '#!/bin/sh\necho "ModuleNotFoundError: No module named torch" >&2\nexit 1\n')
        os.chmod(f"{self.folder}/bin/python3", 0o755)
        self.job('script: train.py, args: ["--data", "{data}"]', "path: data, samples: 100000", "data: 300 samples, ")
        environment = self.environment()
        environment["PATH"] = f"{self.folder}/bin:{environment['PATH']}"
        self.environment = lambda: environment
        out, err = self.foretrain("doctor", "job.yaml")
        self.assertIn(f"passed over {self.folder}/bin/python3", err)
        self.assertRegex(out, r"ok +only +python")

    def test_what_cannot_be_watched_is_refused_by_name(self):
        self.write("alone.py", "import torch\nmodel = torch.nn.Linear(4, 4)\n"
                   "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
                   "for batch in torch.utils.data.DataLoader(torch.randn(640, 4), 16):\n"
                   "    optimizer.zero_grad()\n    model(batch).sum().backward()\n    optimizer.step()\n")
        self.job("script: alone.py")
        _, err = self.foretrain("measure", "job.yaml", status=5)
        self.assertIn("it never initialised torch.distributed", err)


if __name__ == "__main__":
    main()
