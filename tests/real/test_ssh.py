"""The ssh launcher on a real cluster of network namespaces: what it measures, and every way to end badly."""

import json
import os
import re
import signal
import time

from on_cluster import ClusterTest, main

CONFIG = {
    "types": {"a": {"cpu": 0.5, "hosts": ["sa0", "sa1"]}, "b": {"cpu": 0.5, "hosts": ["sb0", "sb1"]}},
    "links": {"*": "300mbit"},
    "private": {"/srv": "1m"},
    "hidden": {"sb1": ["/usr/lib/python3/dist-packages/torch"]},
}

JOB = """
name: far
model: {{script: {script}, args: ["--data", "{{data}}", "--batch-size", "{{batch}}"]}}
data: {{path: data, samples: 1000000}}
training: {{epochs: 2, iterations: [5, 24], profiled: 3}}
devices:
  a: {{count: 4, data: 450 samples, batch: 16, hosts: "{hosts}:4", python: /usr/bin/python3{extra}}}
launcher: {{kind: ssh, config: {config}, shared: {shared}, stall_timeout: {stall}{launcher}}}
"""

HANGS = """
import os, sys, time
print("before the hang", flush=True)
if os.environ["RANK"] == "1":
    time.sleep(600)
import torch, torch.distributed as dist
dist.init_process_group("gloo")
dist.barrier()
"""

STAGES = ("wait_s", "copy_s", "forward_s", "backward_s", "optimizer_s", "rest_s")
ROUNDS_BYTES = 50e6  # at the most, by what the record calls rounds


class Ssh(ClusterTest):
    CONFIG = CONFIG

    def write_job(self, script="train.py", hosts="sa[0-1]", shared="false", stall="60 s", config=None, extra="", launcher=""):
        self.write("job.yaml", JOB.format(script=script, hosts=hosts, shared=shared, stall=stall, extra=extra, launcher=launcher,
                                          config=config or self.cluster.ssh_config))

    def fails(self, limit_s):
        """Runs a measurement that must fail within its deadline; returns what it says."""
        started = time.monotonic()
        _, err = self.foretrain("measure", "job.yaml", status=5, timeout=limit_s + 60)
        self.assertLess(time.monotonic() - started, limit_s, err)
        self.assert_hosts_are_clean()
        return err

    def test_measures_a_sub_system_of_two_hosts(self):
        self.write_job()
        before = self.cluster.counters("sa0", "sa1")["sent_bytes"]
        _, err = self.foretrain("measure", "job.yaml")
        sent = self.cluster.counters("sa0", "sa1")["sent_bytes"] - before
        self.assertIn("a: measured", err)
        self.assert_hosts_are_clean()
        profile = self.load("runs/far/profiles/a.json")
        self.assertEqual(profile["subsystem"]["hosts"], ["sa0", "sa1"])
        self.assertIs(profile["subsystem"]["shares_host"], False)
        stages = {key: stage["mean"] for key, stage in profile["stages"].items()}
        self.assertAlmostEqual(sum(stages[key] for key in STAGES), stages["step_s"], delta=1e-6)
        reduced = profile["all_reduce"]
        self.assertAlmostEqual(reduced["interface_sent_bytes"] / reduced["sent_bytes"], 1, delta=0.08)
        with open(f"{self.folder}/runs/far/records/a/rank0.jsonl", encoding="utf-8") as file:
            n = sum(json.loads(line)["kind"] == "iteration" for line in file)
        self.assertGreater(sent, 0.92 * n * reduced["sent_bytes"])
        self.assertLess(sent, 1.08 * (n + 2) * reduced["sent_bytes"] + ROUNDS_BYTES)  # first weights, one more iteration
        self.assertGreater(profile["rounds"]["busy_s"], 0)
        self.assertIn("kept", self.foretrain("measure", "job.yaml")[1])

    def test_two_types_train_together(self):
        self.write_job(hosts="sa0", extra=', subsystem: {hosts: "sa0:2"}}\n'
                       '  c: {count: 4, data: 450 samples, batch: 8, hosts: "sa1:4", python: /usr/bin/python3')
        with open(f"{self.folder}/job.yaml", "a", encoding="utf-8") as file:
            file.write("subsystems: together\n")
        self.foretrain("measure", "job.yaml")
        for name in ("a", "c"):
            self.assertIs(self.load(f"runs/far/profiles/{name}.json")["subsystem"]["shares_host"], True)
        self.assert_hosts_are_clean()

    def test_types_measured_in_parallel_end_together(self):
        self.write_job(hosts="sa0", extra=', subsystem: {hosts: "sa0:2"}}\n'
                       '  c: {count: 4, data: 450 samples, batch: 64, hosts: "sa1:4", python: /usr/bin/python3')
        _, err = self.foretrain("measure", "--parallel", "job.yaml")
        self.assertNotIn("did not wait", err)
        trained = {}
        for name in ("a", "c"):
            with open(f"{self.folder}/runs/far/records/{name}/rank0.jsonl", encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            n_lines = sum(line["kind"] == "iteration" for line in lines)
            trained[name] = lines[-1]["iterations"] - n_lines
            self.assertEqual([line["text"] for line in lines if line["kind"] == "note" and "wait" in line["text"]], [])
        self.assertGreater(trained["a"], trained["c"])
        self.assertGreater(trained["c"], 0)
        self.assert_hosts_are_clean()

    def test_uses_files_that_the_hosts_see_as_they_are(self):
        self.write_job(shared="auto")
        self.foretrain("measure", "job.yaml")
        self.assert_hosts_are_clean()
        self.assertTrue(os.path.exists(f"{self.folder}/runs/far/records/a/rank1.jsonl"))

    def test_a_rank_that_hangs_ends_at_its_deadline(self):
        self.write("hang.py", HANGS)
        self.write_job("hang.py", stall="6 s")
        err = self.fails(60)
        self.assertIn("did not finish: no progress for 6 s", err)
        self.assertIn("before the hang", err)

    def test_a_rank_that_fails_is_named_with_its_host_and_last_lines(self):
        self.write("bad.py", "import os, time\nif os.environ['RANK'] == '1': raise ValueError('no such card')\n"
                   "time.sleep(600)\n")
        self.write_job("bad.py")
        err = self.fails(60)
        self.assertIn("rank 1 on sa1 exited with status 1", err)
        self.assertIn("ValueError: no such card", err)

    def test_torch_missing_on_one_host_is_said_before_anything_runs(self):
        self.write_job(hosts="sb[0-1]")
        err = self.fails(60)
        self.assertRegex(err, r"host 'sb1': /usr/bin/python3 has no torch")
        self.assertIn("device type 'a'", err)

    def test_a_full_disk_is_named_with_its_host(self):
        self.write_job(launcher=", folder: /srv/foretrain")
        err = self.fails(90)
        self.assertRegex(err, r"host 'sa[01]' has no room for .*: [0-9.]+ MB are needed")
        self.assertIn("name another folder there", err)
        self.assertEqual(self.cluster.exec("sa0", "ls", "-A", "/srv/foretrain").stdout, "")

    def test_a_host_that_does_not_answer_is_named_within_its_deadline(self):
        config = f"{self.folder}/ssh_config"
        with open(self.cluster.ssh_config, encoding="utf-8") as file:
            self.write("ssh_config", file.read().replace("Host sa1\n", "Host sa1\n    ProxyCommand sleep 100\n", 1))
        self.write_job(config=config)
        err = self.fails(60)
        self.assertIn("host 'sa1' cannot be reached", err)

    def test_a_wrong_host_key_is_refused_with_a_hint(self):
        with open(f"{self.cluster.folder}/known_hosts", encoding="utf-8") as file:
            lines = file.read().splitlines()
        first, second = lines[0].split(), lines[1].split()
        self.write("known_hosts", "\n".join([" ".join([first[0], *second[1:]]), " ".join([second[0], *first[1:]])]))
        with open(self.cluster.ssh_config, encoding="utf-8") as file:
            text = re.sub(r"UserKnownHostsFile .*", f"UserKnownHostsFile {self.folder}/known_hosts", file.read())
        self.write("ssh_config", text)
        self.write_job(config=f"{self.folder}/ssh_config")
        err = self.fails(40)
        self.assertIn("Host key verification failed", err)
        self.assertIn("hint: its host key is not known here, or has changed", err)

    def test_ctrl_c_leaves_nothing_on_the_hosts(self):
        self.write_job()
        run = self.start("measure", "job.yaml")
        self.wait_for("runs/far/records/a/rank0.jsonl.part", run)
        time.sleep(2)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=40)
        self.assertEqual(run.returncode, 128 + signal.SIGINT, err)
        self.assertIn("interrupted", err)
        self.assert_hosts_are_clean()

    def test_foretrain_killed_leaves_nothing_on_the_hosts(self):
        self.write_job()
        run = self.start("measure", "job.yaml")
        self.wait_for("runs/far/records/a/rank0.jsonl.part", run)
        run.kill()
        run.communicate(timeout=40)
        self.assert_hosts_are_clean()

    def test_y_a_host_that_falls_silent_in_the_middle_is_named(self):
        self.write_job()
        run = self.start("measure", "job.yaml")
        self.wait_for("runs/far/records/a/rank0.jsonl.part", run)
        self.cluster.cut_off("sa1")
        self.addCleanup(self.cluster.reconnect, "sa1")
        _, err = run.communicate(timeout=150)
        self.assertEqual(run.returncode, 5, err)
        self.assertIn("sa1", err)
        self.assertIn("sub-system a x2", err)
        self.assert_hosts_are_clean(within_s=120)  # its agent waits a minute for us

    def test_z_a_host_killed_in_the_middle_is_named(self):
        self.write_job()
        run = self.start("measure", "job.yaml")
        self.wait_for("runs/far/records/a/rank0.jsonl.part", run)
        self.cluster.kill_host("sa1")
        _, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 5, err)
        self.assertIn("sa1", err)
        self.assertIn("sub-system a x2", err)
        self.assertEqual([each for each in self.left() if "/sa1/" not in each], [])


if __name__ == "__main__":
    main()
