"""`foretrain validate` on a real cluster of network namespaces: the forecast is there first, the ring runs as forecast."""

import hashlib
import os

from on_cluster import ClusterTest, main

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
        self.foretrain("run", "job.yaml")
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


if __name__ == "__main__":
    main()
