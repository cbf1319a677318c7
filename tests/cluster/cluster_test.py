"""What tests on a cluster share: skipped loudly where there can be none, and measuring between hosts."""

import json
import subprocess
import sys
import time
import unittest

from cluster import why_not_here

_SKIPPED = 77


def main(slurm=False):
    """Run the calling file's tests, or say why not and end with the status that ctest shows as skipped."""
    problem = why_not_here(slurm)
    if problem:
        print(f"SKIPPED, nothing of {sys.argv[0]} was tested: {problem}", file=sys.stderr)
        sys.exit(_SKIPPED)
    unittest.main(verbosity=2)


class Stream:
    """An iperf3 measurement from one host to another, running."""

    def __init__(self, cluster, source, target, seconds=3):
        self._server = cluster.popen(
            target, "iperf3", "-s", "-1", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _wait_for_port(cluster, target)
        self._client = cluster.popen(
            source, "iperf3", "--json", "-O", "1", "-t", str(seconds), "-c", cluster.address(target),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def rate_bps(self):
        """Bits per second that arrived."""
        output, _ = self._client.communicate(timeout=60)
        self._server.wait(timeout=20)
        result = json.loads(output)
        if "error" in result:
            raise RuntimeError(f"iperf3: {result['error']}")
        return result["end"]["sum_received"]["bits_per_second"]


def _wait_for_port(cluster, host, port=5201):
    """Wait until something listens on a host, without connecting: a one-off server would take that for its client."""
    deadline = time.monotonic() + 20
    while f":{port} " not in cluster.exec(host, "ss", "-Hltn", f"sport = :{port}").stdout:
        if time.monotonic() > deadline:
            raise RuntimeError(f"nothing listens on port {port} of {host}")
        time.sleep(0.05)
