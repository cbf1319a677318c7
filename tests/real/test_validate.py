"""`foretrain validate` on a real cluster of network namespaces: the forecast is there first, the ring runs as forecast."""

import hashlib
import os
import signal
import subprocess
import time

from on_cluster import ClusterTest, main
from support import FORETRAIN, RunTest

# One link of the ring is slow in the direction in which it is used; the other direction is not.
CONFIG = {
    "types": {"a": {"cpu": 0.4, "hosts": ["va0", "va1"]}, "b": {"cpu": 0.3, "hosts": ["vb0", "vb1"]}},
    "links": {"*": "300mbit", "va0>vb0": "60mbit"},
}
RING = ["va0", "vb0", "va1", "vb1"]

JOB = """
name: truth
model: {{script: train.py, args: ["--data", "{{data}}", "--batch-size", "{{batch}}", "--workers", "0"]}}
data: {{path: data, samples: 100000}}
training: {{epochs: 2, iterations: [4, 15], profiled: 2}}
devices:
  a: {{count: 2, data: 250 samples, batch: 8, hosts: "va[0-1]", allow_full: true, python: /usr/bin/python3}}
  b: {{count: 2, data: 250 samples, batch: 4, hosts: "vb[0-1]", allow_full: true, python: /usr/bin/python3}}
ring: [{ring}]
launcher: {{kind: ssh, config: {config}, stall_timeout: 120 s}}
"""


class Validate(ClusterTest):
    CONFIG = CONFIG

    def sent(self):
        """Bytes sent so far from each device of the ring to the next and to the one before."""
        counts = {}
        for i, host in enumerate(RING):
            for peer in (RING[(i + 1) % 4], RING[i - 1]):
                counts[host, peer] = self.cluster.counters(host, peer)["sent_bytes"]
        return counts

    def assert_forecast_came_first(self, validation):
        path = os.path.join(self.folder, "runs/truth/validate/forecast.json")
        with open(path, "rb") as file:
            self.assertEqual(hashlib.sha256(file.read()).hexdigest(), validation["forecast"]["sha256"])
        forecast = self.load(path)
        self.assertEqual(forecast["written_at"], validation["forecast"]["written_at"])
        self.assertLessEqual(forecast["written_at"], validation["truth"]["runs"][0]["started_at"])
        self.assertTrue(validation["forecast_first"])
        spec = os.path.join(self.folder, "runs/truth/validate/records/full-system/spec-rank0.json")
        self.assertLess(os.stat(path).st_mtime, os.stat(spec).st_mtime)
        self.assertEqual(forecast["deciding"]["device"], "va0")

    def assert_ring_ran_as_forecast(self, before, after, validation):
        """Every device sent its gradients to the next one of the ring, none to the one before."""
        n_iterations = 15
        for i, host in enumerate(RING):
            to_next, to_previous = (host, RING[(i + 1) % 4]), (host, RING[i - 1])
            payload = validation["types"]["ab".index(host[1])]["sent_bytes"]["measured_bytes"] * n_iterations
            self.assertGreater(after[to_next] - before[to_next], 0.92 * payload)
            self.assertLess(after[to_previous] - before[to_previous], 0.5 * payload)

    def test_the_full_system_stands_beside_its_forecast(self):
        self.write("job.yaml", JOB.format(ring=", ".join(RING), config=self.cluster.ssh_config))
        self.foretrain("run", "job.yaml", "--parallel")
        before = self.sent()
        table, said = self.foretrain("validate", "job.yaml")
        after = self.sent()
        self.assertIn("full system, a: measured, 2 devices", said)
        self.assert_hosts_are_clean()
        for words in ("the full system of 4 devices beside its forecast", "epoch, extrapolated", "Forecast written:", "Full run:"):
            self.assertIn(words, table)
        validation = self.load("runs/truth/validate/validation.json")
        self.assertTrue(validation["full"])
        self.assertFalse(validation["shares_host"])
        self.assert_forecast_came_first(validation)
        self.assert_ring_ran_as_forecast(before, after, validation)
        for each in validation["types"]:
            self.assertAlmostEqual(each["sent_bytes"]["error"], 0, delta=0.02)
            self.assertAlmostEqual(each["stages"]["step"]["measured_s"] / validation["truth"]["step_s"], 1, delta=0.05)
            self.assertIsNone(each["stages"]["optimizer"]["forecast_s"])
        again, said = self.foretrain("validate", "job.yaml")
        self.assertEqual(again, table)
        self.assertIn("full system, b: measured already", said)
        self.assertNotIn("a step takes", said)
        self.assert_hosts_are_clean()


LOCAL_JOB = """
name: here
model: {{script: fragile.py, args: ["--data", "{{data}}", "--batch-size", "{{batch}}", "--workers", "0"]}}
data: {{path: data}}
training: {{iterations: [2, {last}], profiled: 1}}
devices:
  a: {{count: {count}, batch: 8, {hosts}, python: /usr/bin/python3}}
network: {{links: [{{between: [a, a], bandwidth: 1 Gbit/s}}]}}
"""

# Trains, unless it is the full system of three and must fail.
FRAGILE = """
import os
if os.environ.get("FRAGILE") and os.environ["WORLD_SIZE"] == "3" and os.environ["RANK"] == "1":
    raise ValueError("no such card")
exec(compile(open(os.path.join(os.path.dirname(__file__), "train.py")).read(), "train.py", "exec"))
"""


class OnThisMachine(RunTest):
    def write_job(self, count, hosts, last=6):
        self.write("fragile.py", FRAGILE)
        self.write("job.yaml", LOCAL_JOB.format(count=count, hosts=hosts, last=last))

    def start(self, **environment):
        return subprocess.Popen([FORETRAIN, "validate", "job.yaml"], cwd=self.folder, stdout=subprocess.PIPE,
                                env={**self.environment(), **environment}, stderr=subprocess.PIPE, text=True)

    def interrupt(self):
        """Ctrl-C while the full system trains; returns what was said."""
        part = os.path.join(self.folder, "runs/here/validate/records/full-system/rank0.jsonl.part")
        with self.start() as run:
            deadline = time.monotonic() + 180
            while not os.path.exists(part) and run.poll() is None and time.monotonic() < deadline:
                time.sleep(0.1)
            run.send_signal(signal.SIGINT)
            said = run.communicate(timeout=60)[1]
        self.assertEqual(run.returncode, 128 + signal.SIGINT, said)
        self.assert_nothing_left()
        return said

    def test_a_full_system_that_fails_or_is_interrupted_leaves_the_forecast_and_what_was_measured(self):
        self.write_job(3, 'hosts: "localhost:3"', last=60)
        with self.start(FRAGILE="1") as run:
            said = run.communicate(timeout=300)[1]
        self.assertEqual(run.returncode, 5, said)
        self.assertIn("full system x3: rank 1 on localhost exited with status 1", said)
        self.assertIn("ValueError: no such card", said)
        self.assert_nothing_left()
        forecast = self.load("runs/here/validate/forecast.json")
        said = self.interrupt()
        self.assertIn("a: measured already", said)
        self.assertIn("interrupted; what was measured is kept in", said)
        self.assertEqual(self.load("runs/here/validate/forecast.json"), forecast)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "runs/here/validate/records/full-system")))

    def test_a_system_without_hosts_for_all_is_run_as_far_as_there_are(self):
        self.write_job(50, 'subsystem: {hosts: "localhost:2"}')
        table, said = self.foretrain("validate", "job.yaml", "--runs", "2")
        for text in (table, said):
            self.assertRegex(text.replace("\n    ", " "), "smaller than the job's 50 devices, for lack of hosts: a 2 of 50")
        validation = self.load("runs/here/validate/validation.json")
        self.assertEqual((validation["full"], validation["n_devices"]), (False, 2))
        self.assertEqual(self.load("runs/here/validate/forecast.json")["n_devices"], 2)
        self.assertEqual(self.load("runs/here/forecast.json")["n_devices"], 50)
        steps = [run["step_s"] for run in validation["truth"]["runs"]]
        self.assertAlmostEqual(validation["truth"]["step_s"], sum(steps) / 2)
        self.assertAlmostEqual(validation["truth"]["distance"], abs(steps[0] - steps[1]) / (sum(steps) / 2))
        self.assert_nothing_left()


if __name__ == "__main__":
    main()
