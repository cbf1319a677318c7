"""`foretrain doctor` over ssh on a real cluster: hosts that are well, that lack something, that do not answer."""

import json
import os
import re
import signal
import time

from on_cluster import ClusterTest, main

JOB = """
name: fit
model: {{script: train.py, args: ["--data", "{{data}}", "--batch-size", "{{batch}}"]}}
data: {{path: data, samples: 1000}}
training: {{iterations: [5, 24]}}
devices:
  a: {{count: {n}, batch: 16, allow_full: true, hosts: "{hosts}", python: /usr/bin/python3, env: {{TOKEN: hush}}}}
launcher: {{kind: ssh, config: {config}}}
{network}
"""

GIVEN = "network: {links: [{between: [a, a], bandwidth: 1 Gbit/s}]}"

# Sets a terminal's title and clears it.
NASTY = "\033]0;owned\007\033[2J"


class Doctor(ClusterTest):
    CONFIG = {
        "types": {"a": {"hosts": ["ka0", "ka1"]}, "b": {"hosts": ["kb0", "kb1"]}},
        "links": {"*": "300mbit"},
        "hidden": {"kb0": ["/usr/lib/python3/dist-packages/torch"], "kb1": ["/usr/bin/iperf3"]},
    }

    def write_job(self, hosts, network="", config=None):
        self.write("job.yaml", JOB.format(hosts=",".join(hosts), n=len(hosts), network=network,
                                          config=config or self.cluster.ssh_config))

    def write_config(self, host, line):
        """The cluster's ssh configuration with one more line for a host."""
        with open(self.cluster.ssh_config, encoding="utf-8") as file:
            self.write("ssh_config", file.read().replace(f"Host {host}\n", f"Host {host}\n    {line}\n", 1))
        return f"{self.folder}/ssh_config"

    def doctor(self, *args, status=0):
        out, err = self.foretrain("doctor", "job.yaml", *args, status=status)
        self.assert_hosts_are_clean()
        return out, err

    def examine(self, status=0):
        """The JSON: {host: its object}, and {(host, what): (verdict, found)}."""
        document = json.loads(self.doctor("--json", status=status)[0])
        self.assertEqual(document["format"], "foretrain.doctor/1")
        self.assertIs(document["ready"], status == 0)
        checks = {(check["subject"], check["what"]): (check["verdict"], check["found"])
                  for check in document["checks"]}
        return {host["host"]: host for host in document["hosts"]}, checks

    def test_hosts_that_are_well(self):
        self.write_job(["ka0", "ka1"])
        hosts, checks = self.examine()
        self.assertEqual(list(hosts), ["ka0", "ka1"])
        for name, host in hosts.items():
            self.assertEqual(host["address"], self.cluster.address(name))
            self.assertEqual(host["interface"], "host0")
            self.assertRegex(host["iperf3"], r"^3\.\d+")
            self.assertLess(abs(host["clock_ahead_s"]), host["clock_error_s"] + 0.01)
            self.assertGreater(host["free_bytes"], 1e6)
            kind = host["types"][0]
            self.assertEqual((kind["python_path"], kind["has_backend"]), ("/usr/bin/python3", True))
            self.assertRegex(kind["torch"], r"^\d+\.\d+")
            self.assertEqual(checks[name, "route"], ("ok", f"to 1 hosts, from {host['address']}"))
        out, _ = self.doctor()
        self.assertRegex(out, r"(?m)^(ok|warn) +ka0 +3\.\d+\.\d+ +[\d.]+\S* +cpu +3\.\d+ +[\d.]+ +host0 ")
        self.assertIn("Ready to run", out)

    def test_torch_and_iperf3_missing_on_one_host_each(self):
        self.write_job(["ka0", "kb0", "kb1"])
        hosts, checks = self.examine(status=1)
        verdict, found = checks["kb0", "python"]
        self.assertEqual(verdict, "FAIL")
        self.assertIn("No module named 'torch'", found)
        verdict, found = checks["kb1", "iperf3"]
        self.assertEqual(verdict, "FAIL")
        self.assertIn("apt install iperf3", found)
        self.assertEqual(hosts["kb1"]["types"][0]["in_subsystem"], False)
        self.assertIn(checks["kb1", "python"][0], ("ok", "warn"))
        self.assertEqual({name: host["verdict"] == "FAIL" for name, host in hosts.items()},
                         {"ka0": False, "kb0": True, "kb1": True})

    def test_what_the_measurement_does_not_need_is_a_warning(self):
        self.write_job(["ka0", "ka1", "kb0", "kb1"], GIVEN)
        hosts, checks = self.examine()
        self.assertEqual(checks["kb0", "python"][0], "warn")
        self.assertNotIn(("kb1", "iperf3"), checks)
        self.assertEqual(hosts["kb0"]["verdict"], "warn")

    def test_a_host_that_does_not_answer_is_named_and_keeps_nobody(self):
        self.write_job(["ka0", "ka1"], config=self.write_config("ka1", "ProxyCommand sleep 100"))
        started = time.monotonic()
        out, err = self.doctor(status=1)
        self.assertLess(time.monotonic() - started, 75)
        self.assertRegex(out, r"(?m)^(ok|warn) +ka0 +3\.")
        self.assertRegex(out, r"(?m)^FAIL +ka1 +- +-")
        self.assertRegex(out, r"FAIL +ka1 +reach +the host cannot be reached: ")
        self.assertRegex(err, r"1 of \d+ checks failed")

    def test_hosts_without_a_route_to_each_other(self):
        self.write_job(["ka0", "ka1"])
        rule = ("to", self.cluster.address("ka1"), "prio", "10", "unreachable")
        self.cluster.exec("ka0", "ip", "rule", "add", *rule)
        self.addCleanup(self.cluster.exec, "ka0", "ip", "rule", "del", *rule)
        _, checks = self.examine(status=1)
        self.assertEqual(checks["ka0", "route"], ("FAIL", "no route to 1 of 1 hosts: ka1"))

    def test_ctrl_c_ends_it_and_leaves_nothing(self):
        self.write_job(["ka0", "ka1"], config=self.write_config("ka1", "ProxyCommand sleep 100"))
        run = self.start("doctor", "job.yaml")
        time.sleep(3)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=40)
        self.assertEqual((run.returncode, out), (128 + signal.SIGINT, ""), err)
        self.assertIn("interrupted", err)
        self.assert_hosts_are_clean()

    def assert_harmless(self, *texts):
        for text in texts:
            self.assertIsNone(re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text), repr(text))

    def write_program(self, name, text):
        self.write(name, text)
        os.chmod(f"{self.folder}/{name}", 0o755)

    def test_nothing_that_a_host_says_drives_the_terminal(self):
        self.write_program("ssh", '#!/bin/sh\ncase "$*" in *" -- ka1 "*) '
                           f"printf '{NASTY}a banner\\n' >&2; exit 255;; esac\nexec ssh \"$@\"\n")
        self.write_program("version", "#!/bin/sh\nprintf '%s\\n' 'foretrain-trial {\"version\": \"3\\u001b[2J\", "
                           "\"torch\": \"2\\u001b]0;owned\\u0007\", \"devices\": []}'\n")
        self.write_program("complaint", f"#!/bin/sh\nprintf '{NASTY}no torch\\n'; exit 1\n")
        self.write_program("broken", f"#!/bin/sh\nprintf 'foretrain-trial {{{NASTY}\\n'\n")
        environment = {**self.environment(), "FORETRAIN_SSH": f"{self.folder}/ssh"}
        self.environment = lambda: environment
        for name in ("version", "complaint", "broken"):
            self.write_job(["ka0", "ka1"])
            with open(f"{self.folder}/job.yaml", encoding="utf-8") as file:
                text = file.read().replace("/usr/bin/python3", f"{self.folder}/{name}")
            self.write("job.yaml", text)
            out, err = self.doctor(status=1)
            self.assertIn("\\x1b]0;owned\\x07\\x1b[2Ja banner", out)
            self.assertIn("\\x1b", out.replace("\\x1b]0;owned\\x07\\x1b[2Ja banner", ""), name)
            self.assert_harmless(out, err)
        self.assert_harmless(*self.doctor("--json", status=1))


if __name__ == "__main__":
    main()
