"""What the tests of whole runs on a cluster share: the cluster, and finding what foretrain left on its hosts."""

import glob
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cluster"))

from cluster import Cluster  # noqa: E402  pylint: disable=wrong-import-position
from cluster_test import main  # noqa: E402  pylint: disable=wrong-import-position
from support import FORETRAIN, RunTest, processes_of  # noqa: E402  pylint: disable=wrong-import-position

__all__ = ["ClusterTest", "main"]

CLEAN_WITHIN_S = 20


class ClusterTest(RunTest):
    """Runs on `CONFIG`, a cluster that all tests of the class share."""

    CONFIG = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster = Cluster(cls.CONFIG)
        cls.cluster.up()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.down()
        super().tearDownClass()

    def left(self):
        """Processes and files of ours on the hosts, and our processes here. Not ours: sshd's for a connection that was
        cut, which it sees only when TCP gives up."""
        found = glob.glob(f"{self.cluster.folder}/hosts/*/home/.cache/foretrain/*")
        for host in self.cluster.hosts:
            found += [f"{host}: {command}" for command in self.cluster.processes(host).values()
                      if not command.startswith("sshd: ")]
        return found + processes_of(self.folder)

    def assert_hosts_are_clean(self, within_s=CLEAN_WITHIN_S):
        deadline = time.monotonic() + within_s
        while self.left() and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertEqual(self.left(), [])

    def start(self, *args):
        return subprocess.Popen([FORETRAIN, *args], cwd=self.folder, env=self.environment(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for(self, pattern, run, limit_s=180):
        """Waits for a file of the run."""
        deadline = time.monotonic() + limit_s
        while not glob.glob(os.path.join(self.folder, pattern)):
            self.assertLess(time.monotonic(), deadline, f"no {pattern}")
            if run.poll() is not None:
                self.fail(f"ended without {pattern}: {run.communicate()}")
            time.sleep(0.1)
