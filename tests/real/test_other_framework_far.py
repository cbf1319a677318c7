"""A training that is not PyTorch on hosts that do not see our files: examples/other-framework by ssh and by Slurm."""

import os
import re
import shutil
import subprocess
import tempfile

from on_cluster import ClusterTest, main
from support import ROOT, TRAINING_PYTHON

EXAMPLE = f"{ROOT}/examples/other-framework"
CONFIG = {"types": {"o": {"cpu": None, "hosts": ["oa0", "oa1"]}}, "links": {"*": "300mbit"}, "slurm": True}
GRADIENT_BYTES = 4 * (785 * 1024 + 1025 * 512 + 513 * 10)

JOB = """
name: far
model: {{command: [{program}, train.py, "--data", "{{data}}", "--batch", "{{batch}}"]}}
data: {{path: data, samples: 100000}}
training: {{iterations: [3, 10]}}
devices:
  o: {{count: 4, data: 200 samples, batch: 16, hosts: "oa[0-1]:2"}}
launcher: {{shared: false, stall_timeout: 60 s, {launcher}}}
"""


class OtherFrameworkFar(ClusterTest):
    CONFIG = CONFIG

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.samples = tempfile.mkdtemp(prefix="foretrain-samples-")
        subprocess.run([TRAINING_PYTHON, f"{EXAMPLE}/make-data.py", f"{cls.samples}/data"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.samples)
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        os.unlink(f"{self.folder}/data")
        os.symlink(f"{self.samples}/data", f"{self.folder}/data")
        for name in ("train.py", "ring.py", "record.py"):
            shutil.copy(f"{EXAMPLE}/{name}", self.folder)

    def environment(self):
        return {**super().environment(), "SLURM_CONF": self.cluster.slurm_conf, "HOME": self.folder}

    def write_job(self, launcher, program=TRAINING_PYTHON):
        self.write("job.yaml", JOB.format(launcher=launcher, program=program))

    def by_ssh(self):
        return f"kind: ssh, config: {self.cluster.ssh_config}"

    def assert_is_measured(self):
        before = self.cluster.counters("oa0", "oa1")["sent_bytes"]
        self.foretrain("measure", "job.yaml")
        sent = self.cluster.counters("oa0", "oa1")["sent_bytes"] - before
        self.assert_hosts_are_clean()
        profile = self.load("runs/far/profiles/o.json")
        self.assertEqual(profile["subsystem"]["hosts"], ["oa0", "oa1"])
        self.assertEqual(profile["all_reduce"]["sent_bytes"], GRADIENT_BYTES)
        self.assertGreater(sent, 10 * GRADIENT_BYTES)  # ten iterations went over the wire
        self.assertLess(sent, 1.1 * 10 * GRADIENT_BYTES)

    def test_by_ssh(self):
        self.write_job(self.by_ssh())
        out, _ = self.foretrain("doctor", "job.yaml")
        self.assertIn("Ready to run", out)
        self.assert_is_measured()

    def test_by_slurm(self):
        self.write_job("kind: slurm")
        self.assert_is_measured()

    def test_a_program_of_the_job_is_brought_along_though_git_ignores_it(self):
        subprocess.run(["git", "init", "--quiet", self.folder], check=True)
        self.write(".gitignore", "/built\n")
        self.write("built", f'#!/bin/sh\nexec {TRAINING_PYTHON} "$@"\n')
        os.chmod(f"{self.folder}/built", 0o755)
        self.write_job(self.by_ssh(), "./built")
        self.assert_is_measured()

    def test_a_program_that_no_host_has_is_named(self):
        self.write_job(self.by_ssh(), "no-such-trainer")
        out, _ = self.foretrain("doctor", "job.yaml", status=1)
        self.assertTrue(re.search(r"FAIL .*there is no program 'no-such-trainer'", out), out)
        _, err = self.foretrain("measure", "job.yaml", status=5)
        self.assertIn("no-such-trainer", err)
        self.assert_hosts_are_clean()


if __name__ == "__main__":
    main()
