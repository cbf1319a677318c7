"""The Slurm launcher on a real Slurm: own jobs, the job around it, the queue, and every way to end badly."""

import glob
import json
import os
import signal
import subprocess
import time

from on_cluster import ClusterTest, main
from support import FORETRAIN

CONFIG = {
    "types": {"a": {"cpu": None, "hosts": ["qa0", "qa1"]}, "b": {"cpu": None, "hosts": ["qb0"]}},
    "links": {"*": "300mbit"},
    "slurm": True,
}

JOB = """
name: far
model: {{script: {script}, args: ["--data", "{{data}}", "--batch-size", "{{batch}}"]}}
data: {{path: data, samples: 1000000}}
training: {{epochs: 2, iterations: [3, 8], profiled: 1}}
devices:
  a: {{count: 4, data: 450 samples, batch: 16, hosts: "qa[0-1]:4", python: /usr/bin/python3, slurm: {{{own}}}}}
launcher: {{kind: slurm, shared: {shared}{launcher}}}
"""

# Says how a rank sees its host, and what of Slurm's step it sees; then it waits.
LOOKS = """
import os, sys, time
print("cpus", len(os.sched_getaffinity(0)), "step", [name for name in os.environ if name == "SLURM_PROCID"],
      "job", os.environ["SLURM_JOB_ID"], flush=True)
sys.exit(3) if os.environ["RANK"] == "1" else time.sleep(600)
"""

SLEEPS = "import time\nprint('asleep', flush=True)\ntime.sleep(600)\n"


class Slurm(ClusterTest):
    CONFIG = CONFIG

    def setUp(self):
        super().setUp()
        self.addCleanup(self.slurm, "scancel", "--user=root")

    def environment(self):
        return {**super().environment(), "SLURM_CONF": self.cluster.slurm_conf, "HOME": self.folder}

    def left(self):
        return super().left() + glob.glob(f"{self.folder}/.cache/foretrain/*")

    def slurm(self, *argv):
        done = subprocess.run(argv, env={**os.environ, "SLURM_CONF": self.cluster.slurm_conf}, capture_output=True,
                              text=True, timeout=60, check=True)
        return done.stdout

    def queue(self):
        return self.slurm("squeue", "--noheader", "--format=%i %T").split("\n")[:-1]

    def write_job(self, script="train.py", shared="false", own="", launcher=""):
        self.write("job.yaml", JOB.format(script=script, shared=shared, own=own, launcher=launcher))

    def assert_nothing_left(self):
        self.assert_hosts_are_clean()
        deadline = time.monotonic() + 20
        while self.queue() and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertEqual(self.queue(), [])

    def hold(self, *hosts):
        """A job that holds hosts until the test ends."""
        number = self.slurm("sbatch", "--parsable", "--exclusive", "--output=/dev/null", f"--nodes={len(hosts)}",
                            f"--nodelist={','.join(hosts)}", "--wrap=sleep 600").strip()
        self.wait_until(lambda: f"{number} RUNNING" in self.queue())
        return number

    def wait_until(self, what, run=None, limit_s=120):
        deadline = time.monotonic() + limit_s
        while not what():
            self.assertLess(time.monotonic(), deadline)
            if run and run.poll() is not None:
                self.fail(f"ended too early: {run.communicate()}")
            time.sleep(0.1)

    def fails(self, status=5):
        _, err = self.foretrain("measure", "job.yaml", status=status, timeout=150)
        self.assert_nothing_left()
        return err

    def waiting(self):
        """A run that waits in the queue for a host of another job; the run and its job's number."""
        self.hold("qa1")
        run = self.start("measure", "job.yaml")
        self.wait_until(lambda: any(" PENDING" in job for job in self.queue()), run)
        return run, next(job.split()[0] for job in self.queue() if " PENDING" in job)

    def asleep(self, **options):
        """A run whose ranks sleep; the run and its job's number."""
        self.write("sleep.py", SLEEPS)
        self.write_job("sleep.py", **options)
        run = self.start("measure", "job.yaml")
        outputs = os.path.join(self.folder, "runs/far/records/a/rank*.out")
        self.wait_until(lambda: [os.path.getsize(path) > 0 for path in glob.glob(outputs)] == [True, True], run)
        return run, self.queue()[0].split()[0]

    def test_measures_a_sub_system_in_a_job_of_its_own(self):
        self.write_job(own="partition: a, constraint: a", launcher=", time_limit: 10 min")
        before = self.cluster.counters("qa0", "qa1")["sent_bytes"]
        _, err = self.foretrain("measure", "job.yaml")
        sent = self.cluster.counters("qa0", "qa1")["sent_bytes"] - before
        self.assertIn("a: measured", err)
        self.assert_nothing_left()
        profile = self.load("runs/far/profiles/a.json")
        self.assertEqual(profile["subsystem"]["hosts"], ["qa0", "qa1"])
        with open(f"{self.folder}/runs/far/records/a/rank0.jsonl", encoding="utf-8") as file:
            n = sum(json.loads(line)["kind"] == "iteration" for line in file)
        self.assertGreater(sent, 0.92 * n * profile["all_reduce"]["sent_bytes"])
        self.assertIn("kept", self.foretrain("measure", "job.yaml")[1])

    def test_uses_the_job_in_which_it_runs(self):
        self.write_job(shared="auto", own="partition: no-such")
        command = ["salloc", "--quiet", "--nodes=2", "--nodelist=qa[0-1]", "--cpus-per-task=1", FORETRAIN, "measure",
                   "job.yaml"]
        done = subprocess.run(command, cwd=self.folder, env=self.environment(), capture_output=True, text=True,
                              timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a: measured", done.stderr)
        self.assert_nothing_left()

    def test_a_host_outside_of_the_job_around_is_named(self):
        self.write_job()
        command = ["salloc", "--quiet", "--nodelist=qa0", FORETRAIN, "measure", "job.yaml"]
        done = subprocess.run(command, cwd=self.folder, env=self.environment(), capture_output=True, text=True,
                              timeout=100, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"host 'qa1' is not in Slurm job \d+")
        self.assertIn("did you mean qa0", done.stderr)

    def test_a_rank_that_fails_is_named_and_has_all_of_its_host(self):
        self.write("looks.py", LOOKS)
        self.write_job("looks.py")
        err = self.fails()
        self.assertIn("rank 1 on qa1 exited with status 3", err)
        self.assertRegex(err, rf"cpus {os.cpu_count()} step \[\] job \d+")

    def test_types_with_different_wishes_train_together_in_jobs_of_their_own(self):
        self.write_job(own="partition: a, constraint: a")
        with open(f"{self.folder}/job.yaml", encoding="utf-8") as file:
            text = file.read().replace('"qa[0-1]:4"', '"qa0:4"')
        self.write("job.yaml", text.replace("launcher:", """\
  b: {count: 4, data: 450 samples, batch: 8, hosts: "qb0:4", python: /usr/bin/python3, slurm: {partition: b}}
subsystems: together
launcher:"""))
        self.foretrain("measure", "job.yaml")
        self.assertEqual(self.load("runs/far/profiles/b.json")["subsystem"]["hosts"], ["qb0", "qb0"])
        self.assert_nothing_left()

    def test_bandwidth_is_measured_in_a_job(self):
        self.write("job.yaml", "name: wires\ndevices: {a: {count: 2, batch: 1, hosts: 'qa[0-1]', allow_full: true}}\n"
                   "launcher: slurm\n")
        self.foretrain("bandwidth", "job.yaml", "--seconds", "1")
        with open(f"{self.folder}/runs/wires/network.csv", encoding="utf-8") as file:
            self.assertEqual(file.read().count(",measured"), 2)
        self.assert_nothing_left()

    def test_ctrl_c_in_the_queue_cancels_the_job(self):
        self.write_job()
        run, _ = self.waiting()
        time.sleep(3)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=40)
        self.assertEqual(run.returncode, 128 + signal.SIGINT, err)
        self.assertRegex(err, r"waiting for Slurm job \d+ \(Resources\)")
        self.assertEqual(len(self.queue()), 1)

    def test_foretrain_killed_in_the_queue_takes_its_job_along(self):
        self.write_job()
        run, number = self.waiting()
        run.kill()
        run.communicate(timeout=40)
        self.wait_until(lambda: f"{number} PENDING" not in self.queue(), limit_s=20)
        self.assertEqual(len(self.queue()), 1)

    def test_a_job_cancelled_in_the_queue_is_named(self):
        self.write_job()
        run, number = self.waiting()
        self.slurm("scancel", number)
        _, err = run.communicate(timeout=40)
        self.assertEqual(run.returncode, 5, err)
        self.assertIn(f"Slurm job {number} was cancelled before it started, for qa0 and others", err)

    def test_the_wait_in_the_queue_has_a_limit(self):
        self.write_job(launcher=", queue_timeout: 4 s")
        run, number = self.waiting()
        _, err = run.communicate(timeout=40)
        self.assertEqual(run.returncode, 5, err)
        self.assertRegex(err, rf"Slurm job {number}, for qa0 and others, did not start within 4 s \(Resources\)")
        self.assertIn("queue_timeout: ...} waits longer", err)
        self.assertEqual(len(self.queue()), 1)

    def test_sigterm_in_the_middle_leaves_nothing(self):
        run, _ = self.asleep()
        run.terminate()
        _, err = run.communicate(timeout=40)
        self.assertEqual(run.returncode, 128 + signal.SIGTERM, err)
        self.assert_nothing_left()

    def test_foretrain_killed_leaves_nothing(self):
        run, _ = self.asleep()
        run.kill()
        run.communicate(timeout=40)
        self.assert_nothing_left()

    def test_a_job_cancelled_in_the_middle_is_named(self):
        run, number = self.asleep()
        self.slurm("scancel", number)
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 5, err)
        self.assertIn(f"Slurm job {number} was cancelled (scancel)", err)
        self.assertRegex(err, r"sub-system a x2: rank \d on qa\d is gone")
        self.assertIn("asleep", err)
        self.assert_nothing_left()

    def test_a_job_at_its_time_limit_is_named(self):
        run, number = self.asleep()
        self.slurm("scontrol", "update", f"JobId={number}", "EndTime=now+1")
        _, err = run.communicate(timeout=200)
        self.assertEqual(run.returncode, 5, err)
        self.assertIn(f"Slurm job {number} reached its time limit", err)
        self.assert_nothing_left()

    def test_z_a_host_killed_in_the_middle_is_named(self):
        run, _ = self.asleep()
        self.cluster.kill_host("qa1")
        self.addCleanup(self.cluster.start_host, "qa1")
        started = time.monotonic()
        _, err = run.communicate(timeout=150)
        self.assertLess(time.monotonic() - started, 100)
        self.assertEqual(run.returncode, 5, err)
        self.assertRegex(err, r"sub-system a x2: rank \d on qa\d is gone")
        self.assertRegex(err, r"lost a node \(NODE_FAIL\): qa1|host 'qa1' was lost")
        self.assertEqual([each for each in self.left() if "qa1" not in each], [])

    def test_what_slurm_refuses_is_told_with_a_hint(self):
        self.write_job(own="partition: no-such")
        err = self.fails()
        self.assertIn("Invalid partition name specified", err)
        self.assertIn("hint: `sinfo` lists the partitions", err)

    def test_without_slurm_that_is_said(self):
        self.write_job()
        environment = {**self.environment(), "FORETRAIN_SLURM": self.folder}
        done = subprocess.run([FORETRAIN, "measure", "job.yaml"], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr, "salloc cannot be run.*\n *hint: Slurm's programs are looked for")


if __name__ == "__main__":
    main(slurm=True)
