"""What foretrain opens, writes and shows: ports on the hosts, modes of files, words of hosts and of the job."""

import os
import re
import stat
import subprocess
import threading

from on_cluster import ClusterTest, main

JOB = """
name: secret
model: {{script: {script}, args: ["--data", "{{data}}", "--batch-size", "{{batch}}"]}}
data: {{path: data, samples: 1000000}}
training: {{epochs: 2, iterations: [5, 24], profiled: 3}}
devices:
  a: {{count: 4, data: 450 samples, batch: 16, hosts: "ka[0-1]:2", subsystem: {{hosts: "ka[0-1]"}},
      python: /usr/bin/python3, env: {{API_TOKEN: hush-hush-hush}}}}
launcher: {{kind: ssh, config: {config}, shared: false, stall_timeout: 60 s}}
"""

# Sets a terminal's title and clears it.
NASTY = "\033]0;owned\007\033[2J"


class Listeners(threading.Thread):
    """What listens on hosts while something runs: {(program, local address)}, without their sshd."""

    def __init__(self, cluster, hosts):
        super().__init__(daemon=True)
        self._cluster, self._hosts = cluster, hosts
        self._over = threading.Event()
        self.found = {host: set() for host in hosts}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self.join()

    def run(self):
        while not self._over.wait(0.1):
            for host in self._hosts:
                self._look(host)

    def _look(self, host):
        for line in self._cluster.exec(host, "ss", "-Htulnp").stdout.splitlines():
            program = re.search(r'users:\(\("([^"]*)"', line)
            name = program[1] if program else "?"
            if name != "sshd":
                self.found[host].add((name, line.split()[4].rpartition(":")[0]))


class Security(ClusterTest):
    CONFIG = {"types": {"a": {"hosts": ["ka0", "ka1"]}}, "links": {"*": "300mbit"}}

    def write_job(self, script="train.py"):
        self.write("job.yaml", JOB.format(script=script, config=self.cluster.ssh_config))

    def test_bandwidth_listens_at_the_measured_addresses_only(self):
        self.write_job()
        with Listeners(self.cluster, ["ka0", "ka1"]) as listeners:
            self.foretrain("bandwidth", "job.yaml", "--seconds", "2")
        for host, found in listeners.found.items():
            self.assertTrue(found <= {("iperf3", self.cluster.address(host)), ("python3", self.cluster.address(host))},
                            (host, found))
        self.assertTrue(any(name == "iperf3" for found in listeners.found.values() for name, _ in found))
        self.assert_hosts_are_clean()

    def test_training_listens_at_the_meeting_point_and_for_gloo_only(self):
        self.write_job()
        with Listeners(self.cluster, ["ka0", "ka1"]) as listeners:
            self.foretrain("measure", "job.yaml")
        everywhere = {"*", "0.0.0.0", "[::]"}
        for host, found in listeners.found.items():
            here = {self.cluster.address(host), f"[::ffff:{self.cluster.address(host)}]"}
            allowed = here | (everywhere if host == "ka0" else set())
            self.assertEqual({address for _, address in found} - allowed, set(), listeners.found)
        self.assertTrue({address for _, address in listeners.found["ka0"]} & everywhere, listeners.found)
        self.assert_hosts_are_clean()
        self.assert_private("runs")

    def assert_private(self, folder):
        """No file that others may read, and no value of a variable but in the job's own copy."""
        for parent, folders, files in os.walk(os.path.join(self.folder, folder)):
            for name in folders + files:
                path = os.path.join(parent, name)
                if os.path.islink(path):
                    continue
                self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & 0o077, 0, path)
                if name in files and name != "job.yaml":
                    with open(path, "rb") as file:
                        self.assertNotIn(b"hush-hush", file.read(), path)

    def test_what_a_rank_prints_is_escaped(self):
        self.write("bad.py", "import os, sys, time\n"
                   f"print({NASTY!r} + 'last words', flush=True)\n"
                   f"sys.stderr.write({NASTY!r} + 'more of them\\n')\n"
                   "sys.exit(3) if os.environ['RANK'] == '1' else time.sleep(600)\n")
        self.write_job("bad.py")
        out, err = self.foretrain("measure", "job.yaml", status=5)
        self.assertIn("\\x1b]0;owned\\x07\\x1b[2Jlast words", err)
        self.assertIsNone(re.search(r"[\x00-\x08\x0b-\x1f\x7f]", out + err), err)
        self.assert_hosts_are_clean()

    def test_names_of_files_are_only_names(self):
        folder = "-o x $(touch ran) 'q\"\n;touch ran;`touch ran`&"
        os.mkdir(os.path.join(self.folder, folder))
        for name in ("train.py", "data"):
            os.rename(f"{self.folder}/{name}", f"{self.folder}/{folder}/{name}")
        self.write_job()
        os.rename(f"{self.folder}/job.yaml", f"{self.folder}/{folder}/job.yaml")
        self.foretrain("measure", f"./{folder}/job.yaml", "--run", f"./{folder}/runs")
        self.assertTrue(os.path.exists(f"{self.folder}/{folder}/runs/profiles/a.json"))
        found = subprocess.run(["find", self.folder, self.cluster.folder + "/hosts", "-name", "ran"],
                               capture_output=True, text=True, check=True).stdout
        self.assertEqual(found, "")
        self.assert_hosts_are_clean()


if __name__ == "__main__":
    main()
