"""What a client and a server of pingpong.py tell of a link's ends."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

from launching import WORKER, free_port

PINGPONG = os.path.join(WORKER, "pingpong.py")
spec = importlib.util.spec_from_file_location("pingpong", PINGPONG)
pingpong = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pingpong)


def write(root, path, text):
    os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
    with open(os.path.join(root, path), "w", encoding="ascii") as file:
        file.write(text)


class Cpus(unittest.TestCase):
    """In trees of control groups made for it."""

    def cpus(self, own, **files):
        with tempfile.TemporaryDirectory() as root:
            write(root, "own", own)
            for path, text in files.items():
                write(root, path.replace("__", "/").replace("_DOT_", "."), text)
            return pingpong.cpus(root, os.path.join(root, "own"))

    def test_without_limits_it_is_one(self):
        self.assertEqual(self.cpus("0::/\n"), 1)
        self.assertEqual(self.cpus("0::/job\n", job__cpu_DOT_max="max 100000\n"), 1)
        self.assertEqual(self.cpus("0::/job\n", job__cpu_DOT_max="400000 100000\n"), 1)
        self.assertEqual(self.cpus("1:cpu:/\n", cpu__cpu_DOT_cfs_quota_us="-1\n", cpu__cpu_DOT_cfs_period_us="100000\n"), 1)

    def test_the_least_of_the_groups_around_counts(self):
        files = {"pod__cpu_DOT_max": "25000 100000\n", "pod__box__cpu_DOT_max": "50000 100000\n"}
        self.assertEqual(self.cpus("0::/pod/box\n", **files), 0.25)

    def test_version_1_has_a_folder_for_its_controllers(self):
        files = {"cpu,cpuacct__a__cpu_DOT_cfs_quota_us": "1400\n", "cpu,cpuacct__a__cpu_DOT_cfs_period_us": "10000\n"}
        self.assertAlmostEqual(self.cpus("4:memory:/x\n3:cpu,cpuacct:/a\n", **files), 0.14)

    def test_a_container_sees_its_own_group_as_the_root(self):
        self.assertEqual(self.cpus("0::/../outside\n", cpu_DOT_max="30000 100000\n"), 0.3)


class PingPong(unittest.TestCase):
    def test_the_client_prints_latency_and_the_cpus_of_both_ends(self):
        port = str(free_port())
        with subprocess.Popen([sys.executable, PINGPONG, "serve", "127.0.0.1", port]) as server:
            for _ in range(100):
                client = subprocess.run([sys.executable, PINGPONG, "ping", "127.0.0.1", "127.0.0.1", port],
                                        capture_output=True, text=True, check=False)
                if "refused" not in client.stderr:
                    break
            self.assertEqual(server.wait(10), 0)
        told = dict(line.split() for line in client.stdout.splitlines())
        self.assertEqual(set(told), {"latency_s", "from_cpus", "to_cpus"})
        self.assertTrue(0 < float(told["latency_s"]) < 0.1)
        self.assertEqual(told["from_cpus"], told["to_cpus"])
        self.assertTrue(0 < float(told["from_cpus"]) <= 1)
