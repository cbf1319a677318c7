"""The test cluster itself: what its configuration promises, and that nothing of it stays behind."""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

from cluster import CONTROL, Cluster, ConfigError, RunError, leftovers
from cluster_test import Stream, main

HERE = os.path.dirname(os.path.abspath(__file__))
COMMAND = os.path.join(HERE, "cluster")
TRAINING_PYTHON = "/usr/bin/python3"
CONFIG = {
    "types": {"typeA": {"cpu": 0.4, "hosts": ["a0", "a1"]}, "typeB": {"cpu": 0.2, "hosts": ["b0", "b1"]}},
    "links": {"*": "100mbit", "typeA-typeB": "80mbit", "a0>b0": "40mbit", "a1-b1": None},
    "slurm": True,
    "private": {"/srv": "1m"},
    "hidden": {"b1": ["/usr/bin/iperf3", "/usr/lib/python3/dist-packages"]},
}
# Its share of a core, and the most work in half a second: what else this machine does only takes away.
BUSY = """
import time

def work_in(seconds):
    n, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        sum(range(1000))
        n += 1
    return n

wall, cpu = time.perf_counter(), time.process_time()
most = max(work_in(0.5) for _ in range(8))
print((time.process_time() - cpu) / (time.perf_counter() - wall), most)
"""


def small(**changes):
    return {"types": {"only": {"cpu": None, "hosts": ["n1", "n2"]}}, "links": {"*": "100mbit"}, **changes}


def run_command(folder, *args):
    return subprocess.run([COMMAND, "--dir", folder, *args], capture_output=True, text=True, timeout=120, check=False)


def interfaces_of_control(subnet):
    prefix = f"fc{subnet.rpartition('.')[2]}-"
    return [name for name in os.listdir("/sys/class/net") if name.startswith(prefix)]


def mentions(folder):
    """Processes of this machine with the folder in their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read()
        except OSError:
            continue
        if folder.encode() in command and int(pid) != os.getpid():
            found.append(command)
    return found


class OneCluster(unittest.TestCase):
    """Tests that share a cluster of four hosts and leave it as it was."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(CONFIG))

    def ssh(self, host, *argv, check=True):
        return subprocess.run(
            ["ssh", "-F", self.cluster.ssh_config, "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", host, *argv],
            capture_output=True, text=True, timeout=60, check=check, stdin=subprocess.DEVNULL,
        )

    def srun(self, *args):
        return subprocess.run(
            ["srun", *args], env={**os.environ, "SLURM_CONF": self.cluster.slurm_conf},
            capture_output=True, text=True, timeout=60, check=False,
        )

    def test_every_host_knows_its_name_and_the_others_addresses(self):
        script = "import socket; print(socket.gethostname(), socket.gethostbyname('b0'))"
        for host in (*self.cluster.hosts, CONTROL):
            said = self.cluster.exec(host, TRAINING_PYTHON, "-c", script).stdout.split()
            self.assertEqual(said, [host, self.cluster.address("b0")])

    def test_a_host_sees_its_own_interfaces_and_the_machines_control_groups(self):
        listed = self.cluster.exec("a1", "ls", "/sys/class/net").stdout.split()
        self.assertEqual(sorted(listed), ["control", "host0", "lo", "to-a0", "to-b0"])
        self.assertTrue(self.cluster.exec("a1", "ls", "/sys/fs/cgroup").stdout)

    def test_arguments_reach_a_host_as_they_are(self):
        hostile = ["a b", "$HOME", "'\"", "x\ny", "*", "-n", ""]
        script = "import json, sys; print(json.dumps(sys.argv[1:]))"
        said = self.cluster.exec("b0", TRAINING_PYTHON, "-c", script, *hostile).stdout
        self.assertEqual(json.loads(said), hostile)

    def test_links_run_at_their_rates_in_each_direction(self):
        for source, target, rate_mbps in (("a0", "a1", 100), ("a0", "b0", 40), ("b0", "a0", 80)):
            with self.subTest(source=source, target=target):
                share = Stream(self.cluster, source, target).rate_bps() / (rate_mbps * 1e6)
                print(f"{source} to {target}: {share:.3f} of {rate_mbps} Mbit/s", file=sys.stderr)
                self.assertGreater(share, 0.90)
                self.assertLess(share, 1.00)

    def test_counters_tell_the_peers_apart(self):
        before = {peer: self.cluster.counters("a0", peer) for peer in ("a1", "b0")}
        rate_bps = Stream(self.cluster, "a0", "a1", seconds=1).rate_bps()
        sent = {peer: self.cluster.counters("a0", peer)["sent_bytes"] - before[peer]["sent_bytes"] for peer in before}
        self.assertGreater(sent["a1"], rate_bps / 8)
        self.assertLess(sent["b0"], 2000)

    def test_hosts_without_a_link_do_not_reach_each_other(self):
        said = self.cluster.exec("a1", "ssh", "-o", "ConnectTimeout=2", "b1", "hostname", check=False)
        self.assertEqual(said.returncode, 255)
        with self.assertRaises(ConfigError):
            self.cluster.counters("a1", "b1")

    def busy_loops(self):
        """Busy loops on a0 and b0 at once: their shares of a core, and how much more a0's did."""
        running = [
            self.cluster.popen(host, TRAINING_PYTHON, "-c", BUSY, stdout=subprocess.PIPE, text=True)
            for host in ("a0", "b0")
        ]
        (share_a, n_a), (share_b, n_b) = (map(float, each.communicate(timeout=60)[0].split()) for each in running)
        print(f"shares {share_a:.3f} of 0.4 and {share_b:.3f} of 0.2, work {n_a / n_b:.3f} to 1", file=sys.stderr)
        return share_a, share_b, n_a / n_b

    def test_a_cpu_share_slows_a_busy_loop_as_set(self):
        def as_set(found):
            return all(abs(value / wanted - 1) < 0.1 for value, wanted in zip(found, (0.4, 0.2, 2.0), strict=True))

        self.assertTrue(any(as_set(self.busy_loops()) for _ in range(3)))

    def test_ssh_reaches_every_host_within_its_cpu_share(self):
        for host in self.cluster.hosts:
            name, groups = self.ssh(host, "hostname && cat /proc/self/cgroup").stdout.split("\n", 1)
            self.assertEqual(name, host)
            self.assertIn(f"/{self.cluster.name}/{host}\n", groups)

    def test_ssh_needs_no_options_on_hosts_and_control(self):
        for host in ("a0", CONTROL):
            self.assertEqual(self.cluster.exec(host, "ssh", "b0", "hostname").stdout, "b0\n")

    def test_slurm_runs_on_all_hosts_by_name(self):
        self.assertEqual(sorted(self.srun("-N4", "hostname").stdout.split()), self.cluster.hosts)
        said = self.cluster.exec("a0", "srun", "-N2", "-p", "typeA", "cat", "/proc/self/cgroup").stdout
        for host in ("a0", "a1"):
            self.assertIn(f"/{self.cluster.name}/{host}\n", said)

    def test_slurm_picks_hosts_by_the_feature_of_their_type(self):
        self.assertEqual(sorted(self.srun("-N2", "--constraint=typeB", "hostname").stdout.split()), ["b0", "b1"])
        self.assertNotEqual(self.srun("-N3", "--constraint=typeB", "--immediate=5", "hostname").returncode, 0)

    def test_a_private_folder_is_a_hosts_own_and_can_be_full(self):
        self.cluster.exec("a0", "dd", "if=/dev/zero", "of=/srv/of-a0", "bs=1k", "count=10")
        self.assertNotEqual(self.cluster.exec("a1", "ls", "/srv/of-a0", check=False).returncode, 0)
        self.assertFalse(os.path.exists("/srv/of-a0"))
        full = self.cluster.exec("a0", "dd", "if=/dev/zero", "of=/srv/large", "bs=1M", "count=2", check=False)
        self.assertIn("No space left", full.stderr)

    def test_a_host_can_lack_what_the_machine_has(self):
        lacking = self.cluster.exec("b1", TRAINING_PYTHON, "-c", "import torch", check=False)
        self.assertIn("ModuleNotFoundError", lacking.stderr)
        self.assertNotEqual(self.cluster.exec("b1", "iperf3", "--version", check=False).returncode, 0)
        self.assertEqual(self.cluster.exec("b0", "iperf3", "--version").returncode, 0)

    def test_a_cut_link_is_silent_and_can_be_mended(self):
        self.cluster.link_down("a0", "a1")
        self.addCleanup(self.cluster.link_up, "a0", "a1")
        said = self.cluster.exec("a0", "ssh", "-o", "ConnectTimeout=2", "a1", "hostname", check=False)
        self.assertEqual(said.returncode, 255)
        self.assertEqual(self.ssh("a0", "hostname").stdout, "a0\n")
        self.cluster.link_up("a0", "a1")
        said = self.cluster.exec("a0", "ssh", "-v", "-o", "ConnectTimeout=10", "a1", "hostname", check=False)
        self.assertEqual(said.stdout, "a1\n", said.stderr)

    def test_a_killed_host_does_not_answer_until_it_is_started_again(self):
        victim = self.cluster.popen("b1", "sleep", "600")
        self.assertEqual(list(self.cluster.processes("b1").values()), ["sleep 600"])
        self.cluster.kill_host("b1")
        self.assertEqual(victim.wait(timeout=10), -signal.SIGKILL)
        self.assertEqual(self.ssh("b1", "hostname", check=False).returncode, 255)
        self.cluster.start_host("b1")
        self.assertEqual(self.ssh("b1", "hostname").stdout, "b1\n")
        self.assertEqual(self.srun("-w", "b1", "hostname").stdout, "b1\n")

    def test_killing_a_hosts_processes_spares_its_daemons(self):
        running = self.cluster.popen("b0", "setsid", "sleep", "600")
        self.cluster.kill_processes("b0")
        running.wait(timeout=10)
        self.assertEqual(self.cluster.processes("b0"), {})
        self.assertEqual(self.ssh("b0", "hostname").stdout, "b0\n")

    def train(self, hosts, n_steps):
        """DDP on these hosts, rank by rank; returns what each rank printed."""
        meeting = {"MASTER_ADDR": self.cluster.address(hosts[0]), "MASTER_PORT": "29501", "WORLD_SIZE": str(len(hosts))}
        ranks = [
            self.cluster.popen(
                host, TRAINING_PYTHON, os.path.join(HERE, "ddp.py"), str(n_steps),
                stdout=subprocess.PIPE, text=True,
                env={**os.environ, **meeting, "RANK": str(rank), "GLOO_SOCKET_IFNAME": "host0"},
            )
            for rank, host in enumerate(hosts)
        ]
        return [json.loads(each.communicate(timeout=180)[0]) for each in ranks]

    def test_ddp_sends_its_gradients_over_the_interface_of_the_host(self):
        for said in self.train(["a0", "a1"], 10):
            expected = said["gradient_bytes"] * 10
            print(f"rank {said['rank']} sent {said['sent_bytes'] / expected:.3f} of its gradients", file=sys.stderr)
            self.assertGreater(said["sent_bytes"], expected)
            self.assertLess(said["sent_bytes"], expected * 1.08)

    def test_gloo_sends_to_the_rank_before(self):
        hosts = ["a0", "a1", "b0"]
        before = {(host, peer): self.cluster.counters(host, peer) for host in hosts for peer in hosts if host != peer}
        gradient_bytes = self.train(hosts, 5)[0]["gradient_bytes"]
        for rank, host in enumerate(hosts):
            sent = {
                peer: self.cluster.counters(host, peer)["sent_bytes"] - before[host, peer]["sent_bytes"]
                for peer in hosts if peer != host
            }
            self.assertGreater(sent[hosts[rank - 1]], 5 * gradient_bytes * 4 / 3)
            self.assertLess(sent[hosts[(rank + 1) % 3]], 5 * gradient_bytes)


class Uplink(unittest.TestCase):
    def test_is_shared_by_the_pairs_that_use_it_at_once(self):
        groups = [["n1", "n2"], ["n3", "n4"]]
        config = {
            "types": {"only": {"cpu": None, "hosts": [*groups[0], *groups[1]]}},
            "links": {"*": "200mbit"}, "uplinks": [{"groups": groups, "rate": "80mbit"}],
        }
        with Cluster(config) as cluster:
            alone = Stream(cluster, "n1", "n3").rate_bps() / 80e6
            both = [Stream(cluster, source, target, 6) for source, target in (("n1", "n3"), ("n2", "n4"))]
            together = [stream.rate_bps() / 80e6 for stream in both]
            within = Stream(cluster, "n1", "n2").rate_bps() / 200e6
        print(f"uplink: alone {alone:.3f}, together {together}, within a group {within:.3f}", file=sys.stderr)
        self.assertTrue(0.90 < alone < 1.0 and 0.90 < within < 1.0, (alone, within))
        self.assertTrue(all(0.40 < share < 0.75 for share in together), together)


class Traces(unittest.TestCase):
    """Whatever happened to a cluster, `down` leaves nothing of it."""

    def setUp(self):
        self.folder = f"/run/foretrain-traces-{os.getpid()}"
        self.addCleanup(run_command, self.folder, "down")

    def config_file(self, config):
        path = f"{self.folder}.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        self.addCleanup(os.unlink, path)
        return path

    def assert_nothing_left(self):
        self.assertEqual(leftovers(self.folder), [])
        self.assertEqual(mentions(self.folder), [])

    def down(self):
        done = run_command(self.folder, "down")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_nothing_left()

    def test_the_command_makes_shows_uses_and_removes_a_cluster(self):
        config = self.config_file(small(slurm=True))
        made = run_command(self.folder, "up", config)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("n1 10.9.", made.stdout)
        self.assertEqual(run_command(self.folder, "exec", "n2", "--", "hostname").stdout, "n2\n")
        self.assertEqual(run_command(self.folder, "exec", "n2", "--", "false").returncode, 1)
        self.assertRegex(run_command(self.folder, "status").stdout, r"n1 +10\.9\.\d+\.1 +only +- +up")
        self.assertRegex(run_command(self.folder, "counters", "n1", "to-n2").stdout, r"^to-n2 sent_bytes=\d+ ")
        again = run_command(self.folder, "up", config)
        self.assertEqual(again.returncode, 1)
        self.assertIn("is up already", again.stderr)
        subnet = Cluster.open(self.folder).subnet
        self.down()
        self.assertEqual(interfaces_of_control(subnet), [])
        self.assertEqual(run_command(self.folder, "status").returncode, 1)
        self.down()

    def test_processes_that_nobody_waits_for_end(self):
        cluster = Cluster(small(), self.folder)
        cluster.up()
        for host in ("n1", CONTROL):
            cluster.exec(
                host, "setsid", "-f", "sleep", "601",
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, capture_output=False,
            )
        self.assertEqual(list(cluster.processes("n1").values()), ["sleep 601"])
        self.down()

    def test_down_after_half_of_it_is_gone(self):
        cluster = Cluster(small(slurm=True), self.folder)
        cluster.up()
        cluster.kill_host("n1")
        subprocess.run(["ip", "netns", "delete", f"{cluster.name}.n2"], check=True)
        os.unlink(os.path.join(self.folder, "slurm.conf"))
        self.down()

    def test_down_after_its_folder_is_gone(self):
        cluster = Cluster(small(), self.folder)
        cluster.up()
        subprocess.run(["rm", "-r", self.folder], check=True)
        self.down()

    def test_down_after_making_it_was_killed(self):
        config = self.config_file(small(slurm=True, private={"/srv": "1m"}))
        for seconds in (0.05, 0.2, 0.4, 0.7, 1.0, 1.5):
            with subprocess.Popen(
                [COMMAND, "--dir", self.folder, "up", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ) as making:
                time.sleep(seconds)
                making.kill()
            self.down()

    def test_a_cluster_whose_test_was_killed_is_removed_by_the_next(self):
        script = f"import os, cluster; c = cluster.Cluster({small()!r}); c.__enter__(); os.kill(os.getpid(), 9)"
        with subprocess.Popen([sys.executable, "-B", "-c", script], cwd=HERE) as killed:
            self.assertEqual(killed.wait(timeout=60), -signal.SIGKILL)
        abandoned = f"/run/foretrain-cluster-{killed.pid}-1"
        self.assertNotEqual(leftovers(abandoned), [])
        with Cluster(small()) as cluster:
            self.assertEqual(leftovers(abandoned), [])
        self.assertEqual(leftovers(cluster.folder), [])

    def test_clusters_live_side_by_side(self):
        with Cluster(small()) as one:
            other = Cluster(small(), self.folder)
            other.up()
            self.assertNotEqual(one.subnet, other.subnet)
            self.down()
            self.assertEqual(one.exec("n1", "ssh", "n2", "hostname").stdout, "n2\n")

    def test_what_cannot_be_made_is_removed_and_says_why(self):
        config = self.config_file(small(private={"/no/such/folder": None}))
        made = run_command(self.folder, "up", config)
        self.assertEqual(made.returncode, 1)
        self.assertIn("must be there on this machine: /no/such/folder", made.stderr)
        self.assert_nothing_left()

    def test_refusing_to_make_it_twice_leaves_the_first_alone(self):
        Cluster(small(), self.folder).up()
        with self.assertRaisesRegex(RunError, "is up already"), Cluster(small(), self.folder):
            self.fail("made twice")
        self.assertEqual(Cluster.open(self.folder).exec("n1", "hostname").stdout, "n1\n")

    def test_a_folder_of_something_else_stays(self):
        os.mkdir(self.folder)
        self.addCleanup(subprocess.run, ["rm", "-r", self.folder], check=True)
        with open(os.path.join(self.folder, "thesis"), "w", encoding="utf-8"):
            pass
        self.assertEqual(run_command(self.folder, "down").returncode, 1)
        self.assertEqual(os.listdir(self.folder), ["thesis"])


class Refusals(unittest.TestCase):
    def test_a_configuration_that_makes_no_sense(self):
        hosts = {"only": {"cpu": None, "hosts": ["n1", "n2"]}}
        for document, problem in (
            ({}, "types are missing"),
            ({"types": hosts, "link": {}}, "unknown key 'link'"),
            ({"types": {"only": {"cpu": 0.01, "hosts": ["n1"]}}}, "cpu of type only must be at least 0.1"),
            ({"types": {"only": {"hosts": ["n1", "n1"]}}}, "'n1' is taken"),
            ({"types": {"only": {"hosts": ["control"]}}}, "'control' is taken"),
            ({"types": {"only": {"hosts": ["../x"]}}}, "cannot be the name of a host"),
            ({"types": hosts, "links": {"n1-n3": "1mbit"}}, "'n1-n3' in links"),
            ({"types": hosts, "links": {"*": "fast"}}, "'fast' is no rate"),
            ({"types": hosts, "links": {"n1>n2": "1mbit"}}, "none back"),
            ({"types": hosts, "uplinks": [{"groups": [["n1"]], "rate": "1mbit"}]}, "two or more groups"),
            ({"types": hosts, "private": {"srv": None}}, "absolute path"),
        ):
            with self.assertRaisesRegex(ConfigError, problem):
                Cluster(document)

    def test_a_cluster_that_is_not_up(self):
        with self.assertRaisesRegex(RunError, "no cluster is up"):
            Cluster.open("/run/foretrain-no-such-cluster")

    def test_a_user_who_is_not_root(self):
        done = subprocess.run(
            ["setpriv", "--reuid=65534", sys.executable, "-B", COMMAND, "status"],
            capture_output=True, text=True, check=False,
        )
        self.assertEqual(done.returncode, 77)
        self.assertIn("need root", done.stderr)


if __name__ == "__main__":
    main(slurm=True)
