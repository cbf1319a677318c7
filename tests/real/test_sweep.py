"""Sweeps over the machines of a real Slurm: each task its part, one result; a lost part is named and done again alone."""

import glob
import os
import re
import shutil
import subprocess

from on_cluster import ClusterTest, main
from support import FORETRAIN, ROOT

CONFIG = {
    "types": {"a": {"cpu": None, "hosts": ["qa0", "qa1", "qa2"]}},
    "links": {"*": "300mbit"},
    "slurm": True,
}

VARY = ["--csv", "--model", "closed-form", "--vary", "a100.count=0:100", "--vary", "mlu370.count=0:100"]


class Sweep(ClusterTest):
    CONFIG = CONFIG

    def setUp(self):
        super().setUp()
        shutil.copytree(f"{ROOT}/examples/resnet50-200", f"{self.folder}/examples")
        self.whole, _ = self.sweep()

    def environment(self):
        return {**super().environment(), "SLURM_CONF": self.cluster.slurm_conf}

    def sweep(self, *args, status=0):
        return self.foretrain("sweep", "examples/job.yaml", *VARY, *args, status=status)

    def srun(self, n_tasks, *command):
        done = subprocess.run(["srun", "--overcommit", "--nodes=3", f"--ntasks={n_tasks}", *command],
                              cwd=self.folder, env=self.environment(), capture_output=True, text=True, timeout=120,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def parts(self):
        return sorted(os.path.basename(path) for path in glob.glob(f"{self.folder}/runs/*/sweep-*/part-*"))

    def test_tasks_take_a_part_each_and_one_prints_the_result(self):
        status, out, err = self.srun(7, FORETRAIN, "sweep", "examples/job.yaml", *VARY)
        self.assertEqual(status, 0, err)
        self.assertEqual(out, self.whole)
        self.assertEqual(self.parts(), [])
        self.assert_nothing_left()

    def test_a_lost_part_is_named_and_done_again_alone(self):
        dies = f'[ "$SLURM_PROCID" = 2 ] && exit 9; exec {FORETRAIN} sweep examples/job.yaml {" ".join(VARY)}'
        status, out, err = self.srun(4, "--kill-on-bad-exit=0", "sh", "-c", dies)
        self.assertEqual((status, out), (9, ""), err)
        self.assertIn("missing: 3", err)
        self.assertEqual(self.parts(), ["part-1-of-4.json", "part-2-of-4.json", "part-4-of-4.json"])
        _, err = self.sweep("--join", "4", status=4)
        self.assertRegex(err, "of 4 parts these are missing: 3\n *hint: .*--part NUMBER/4")
        again, _ = self.sweep("--part", "3/4")
        self.assertEqual(again, self.whole)
        self.assertEqual(self.parts(), [])

    def test_a_batch_job_without_srun_does_all_of_it(self):
        script = f"#!/bin/sh\n{FORETRAIN} sweep examples/job.yaml {' '.join(VARY)} 2>/dev/null\n"
        self.write("batch.sh", script)
        done = subprocess.run(["sbatch", "--wait", "--ntasks=3", "--output=batch.out", "batch.sh"], cwd=self.folder,
                              env=self.environment(), capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(f"{self.folder}/batch.out", encoding="utf-8", newline="") as file:
            self.assertEqual(re.sub("\r", "", file.read()), re.sub("\r", "", self.whole))


if __name__ == "__main__":
    main(slurm=True)
