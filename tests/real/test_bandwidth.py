"""`foretrain bandwidth` over ssh on a real cluster of network namespaces: shaped links, a shared uplink, faults."""

import csv
import os
import re
import signal
import subprocess
import time

from on_cluster import ClusterTest, main

# What iperf3 counts of a shaped link: payload without headers.
PAYLOAD_SHARE = 0.955

CONFIG = {
    "types": {"a": {"hosts": ["wa0", "wa1"]}, "b": {"hosts": ["wb0", "wb1"]}},
    "links": {"*": "100mbit", "wa0>wb0": "20mbit", "wa1>wa0": "60mbit", "wb0>wb1": "40mbit"},
}

# Hosts of different types reach each other through one uplink of 100 Mbit/s each way.
SHARED = {
    "types": {"a": {"hosts": ["xa0", "xa1"]}, "b": {"hosts": ["xb0", "xb1"]}},
    "links": {"a-a": "100mbit", "b-b": "100mbit"},
    "uplinks": [{"groups": [["xa0", "xa1"], ["xb0", "xb1"]], "rate": "100mbit"}],
}

JOB = """
name: wires
devices:
  a: {{count: 2, batch: 1, hosts: "{a}", allow_full: true}}
  b: {{count: 2, batch: 1, hosts: "{b}", allow_full: true}}
ring: [{ring}]
launcher: {{kind: ssh, config: {config}}}
"""


# Listens on the first ports that foretrain tries, until its input ends.
TAKES_PORTS = """
import socket, sys
kept = []
for port in range(20000, 20008):
    kept.append(socket.socket())
    kept[-1].bind(("", port))
    kept[-1].listen()
print("taken", flush=True)
sys.stdin.read()
"""


class BandwidthTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.write_job()

    def write_job(self, ring=None):
        hosts = self.cluster.hosts
        self.write("job.yaml", JOB.format(a=",".join(hosts[:2]), b=",".join(hosts[2:]),
                                          ring=", ".join(ring or hosts), config=self.cluster.ssh_config))

    def links(self):
        with open(os.path.join(self.folder, "runs/wires/network.csv"), encoding="utf-8") as file:
            return {(row["from"], row["to"]): row for row in csv.DictReader(file)}

    def wait_for_client(self, host, run):
        """The process id of the iperf3 that runs on a host."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for pid, command in self.cluster.processes(host).items():
                if command.startswith("iperf3 "):
                    return pid
            self.assertIsNone(run.poll())
            time.sleep(0.02)
        self.fail(f"no iperf3 on {host}")


class Wires(BandwidthTest):
    CONFIG = CONFIG

    def assert_rates(self, links, pairs):
        for pair in pairs:
            rate = float(re.match("[0-9]+", CONFIG["links"].get(f"{pair[0]}>{pair[1]}", "100mbit"))[0])
            got = float(links[pair]["bandwidth_Bps"]) * 8e-6
            self.assertAlmostEqual(got / (rate * PAYLOAD_SHARE), 1, delta=0.1, msg=f"{pair}: {got}")
            self.assertTrue(1e-6 < float(links[pair]["latency_s"]) < 5e-3, links[pair])

    def test_all_pairs_are_as_set(self):
        plan, _ = self.foretrain("bandwidth", "job.yaml", "--pairs", "all", "--plan")
        self.assertIn("12 links in 6 rounds", plan)
        self.foretrain("bandwidth", "job.yaml", "--pairs", "all")
        links = self.links()
        hosts = self.cluster.hosts
        self.assert_rates(links, [(one, other) for one in hosts for other in hosts if one != other])
        self.assertEqual({link["source"] for link in links.values()}, {"measured"})
        self.assert_hosts_are_clean()

    def test_an_interrupted_run_goes_on_where_it_stopped(self):
        run = self.start("bandwidth", "job.yaml")
        deadline = time.monotonic() + 60
        while not os.path.exists(os.path.join(self.folder, "runs/wires/network.csv")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130)
        kept = self.links()
        self.assertGreater(len(kept), 0)
        self.assert_hosts_are_clean()
        self.foretrain("bandwidth", "job.yaml")
        links = self.links()
        for pair, link in kept.items():
            self.assertEqual(links[pair], link)
        self.assert_rates(links, [("wa0", "wa1"), ("wa1", "wb0"), ("wb0", "wb1"), ("wb1", "wa0"), ("wa1", "wa0")])

    def test_a_server_that_is_killed_is_tried_again(self):
        run = self.start("bandwidth", "job.yaml", "--seconds", "3")
        pid = self.wait_for_client("wa1", run)
        time.sleep(1)
        os.kill(pid, signal.SIGKILL)
        _, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, err)
        self.assertIn("tried again", err)
        self.assert_rates(self.links(), [("wa0", "wa1"), ("wa1", "wa0")])

    def test_ports_that_are_taken_are_passed_over(self):
        taken = self.cluster.popen("wb0", "/usr/bin/python3", "-c", TAKES_PORTS, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self.addCleanup(taken.communicate)
        self.assertEqual(taken.stdout.readline(), b"taken\n")
        self.foretrain("bandwidth", "job.yaml", "--seconds", "1")
        self.assert_rates(self.links(), [("wa1", "wb0")])

    def test_a_link_that_is_down_is_named_and_not_forecast(self):
        self.cluster.link_down("wa1", "wb0")
        self.addCleanup(self.cluster.link_up, "wa1", "wb0")
        _, err = self.foretrain("bandwidth", "job.yaml", "--seconds", "1", status=5)
        self.assertRegex(err, r"1 of \d+ links could not be measured, tried 3 times:\n  wa1 -> wb0: ")
        self.assertEqual(self.links()["wa1", "wb0"]["source"], "failed")
        self.assert_rates(self.links(), [("wb1", "wa0")])
        self.assert_hosts_are_clean()


class Uplink(BandwidthTest):
    CONFIG = SHARED

    def test_together_finds_the_shared_uplink(self):
        self.write_job(ring=["xa0", "xb0", "xa1", "xb1"])
        _, err = self.foretrain("bandwidth", "job.yaml", "--together", "--seconds", "3")
        self.assertRegex(err, "2 links of the ring share an uplink, from 'a' to 'b': xa0 -> xb0")
        self.assertRegex(err, "2 links of the ring share an uplink, from 'b' to 'a': ")
        for pair in (("xa0", "xb0"), ("xa1", "xb1"), ("xb0", "xa1"), ("xb1", "xa0")):
            link = self.links()[pair]
            alone, together = float(link["bandwidth_Bps"]) * 8e-6, float(link["together_Bps"]) * 8e-6
            self.assertAlmostEqual(alone / (100 * PAYLOAD_SHARE), 1, delta=0.1)
            self.assertTrue(10 < together < 76, link)

    def test_a_ring_that_shares_nothing_is_as_fast_together(self):
        _, err = self.foretrain("bandwidth", "job.yaml", "--together", "--seconds", "2")
        self.assertIn("all links of the ring at once are as fast as one at a time", err)


if __name__ == "__main__":
    main()
