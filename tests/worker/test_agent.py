"""The agent that runs processes on a host: what it passes on, and that nothing outlives it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

AGENT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "worker", "agent.py")


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class AgentTest(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="foretrain-agent-")
        self.addCleanup(shutil.rmtree, self.home, True)
        self.agent = subprocess.Popen(
            [sys.executable, "-u", AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "HOME": self.home},
        )
        self.addCleanup(self.end)
        self.seq = 0
        self.hello = self.ask(op="hello", limit_s=60)

    def end(self):
        if self.agent.poll() is None:
            self.agent.kill()
        self.agent.wait()
        self.agent.stdin.close()
        self.agent.stdout.close()

    def send(self, payload=b"", **request):
        if payload:
            request["size"] = len(payload)
        self.agent.stdin.write(json.dumps(request).encode() + b"\n" + payload)
        self.agent.stdin.flush()

    def hear(self):
        line = self.agent.stdout.readline()
        event = json.loads(line) if line else None
        return event, self.agent.stdout.read(event.get("size", 0)) if event else b""

    def ask(self, **request):
        self.seq += 1
        self.send(seq=self.seq, **request)
        event = {}
        while event.get("ev") != "answer" or event["seq"] != self.seq:
            event, self.payload = self.hear()
        return event

    def run_program(self, script, number=1, **request):
        return self.ask(op="run", id=number, argv=["/bin/sh", "-c", script], env=request.pop("env", []), **request)

    def until(self, kind):
        """Events up to one of a kind: [(event, payload), ...]."""
        heard = []
        while not heard or heard[-1][0]["ev"] != kind:
            heard.append(self.hear())
            self.assertIsNotNone(heard[-1][0])
        return heard

    def folders(self):
        base = os.path.join(self.home, ".cache", "foretrain")
        return os.listdir(base) if os.path.isdir(base) else []

    def test_passes_on_output_and_status(self):
        self.run_program('echo "$A"; echo bad >&2; exit 3', env=[["A", "b c"]], errors=True)
        heard = self.until("end")
        self.assertIn(b"b c\n", [payload for event, payload in heard if event.get("to") == 1])
        self.assertIn(b"bad\n", [payload for event, payload in heard if event.get("to") == 2])
        self.assertEqual((heard[-1][0]["signalled"], heard[-1][0]["number"]), (False, 3))

    def test_names_a_program_that_is_not_there(self):
        answer = self.ask(op="run", id=1, argv=["/no/such/program"], env=[])
        self.assertIn("/no/such/program: No such file", answer["error"])

    def test_names_a_folder_that_is_not_there(self):
        self.assertIn("there is no folder", self.run_program("true", cwd="/no/such/folder")["error"])

    def test_arguments_are_any_bytes(self):
        words = ["", " ", "$HOME", "a'b\"c\\", "line\nnext", "-x", "Gr\u00fc\u00df\u00ff"]
        self.ask(op="run", id=1, argv=["printf", "<%s>", *words], env=[])
        printed = b"".join(payload for event, payload in self.until("end") if event["ev"] == "out")
        self.assertEqual(printed, b"".join(b"<%s>" % word.encode("latin-1") for word in words))

    def test_a_stop_ends_what_left_the_session_and_ignores_sigterm(self):
        self.run_program("trap '' TERM; setsid sleep 1000 & echo $!; while :; do sleep 1; done")
        pid = int(self.until("out")[-1][1])
        started = time.monotonic()
        self.send(op="stop", ids=[1])
        self.until("stopped")
        self.assertFalse(is_running(pid))
        self.assertLess(time.monotonic() - started, 40)

    def test_the_end_of_its_input_ends_all(self):
        self.run_program("(setsid sleep 1000 & echo $!); sleep 1000")
        pid = int(self.until("out")[-1][1])
        self.agent.stdin.close()
        self.agent.wait(timeout=10)
        self.assertFalse(is_running(pid))
        self.assertEqual(self.folders(), [])

    def test_sigterm_ends_all(self):
        self.run_program("echo $$; sleep 1000")
        pid = int(self.until("out")[-1][1])
        self.agent.send_signal(signal.SIGTERM)
        self.agent.wait(timeout=10)
        self.assertFalse(is_running(pid))

    def test_silence_ends_all(self):
        self.ask(op="hello", limit_s=1)
        self.run_program("sleep 1000")
        self.agent.wait(timeout=10)
        self.assertEqual(self.folders(), [])

    def test_a_killed_agents_children_die_and_the_next_one_removes_its_folder(self):
        self.run_program("echo $$; exec sleep 1000")
        pid = int(self.until("out")[-1][1])
        self.agent.kill()
        self.agent.wait()
        deadline = time.monotonic() + 5
        while is_running(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(is_running(pid))
        self.assertEqual(len(self.folders()), 1)
        self.end()
        old = self.folders()
        self.setUp_again()
        self.assertNotIn(old[0], self.folders())

    def setUp_again(self):
        self.agent = subprocess.Popen(
            [sys.executable, "-u", AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "HOME": self.home},
        )
        self.ask(op="hello", limit_s=60)

    def test_files_arrive_with_their_bytes(self):
        folder = self.ask(op="make")["path"]
        self.send(b"first ", op="put", path=f"{folder}/below/a", first=True, mode=0o600)
        self.send(b"then", op="put", path=f"{folder}/below/a")
        self.send(op="put", path=f"{folder}/empty", first=True, mode=0o700)
        self.assertNotIn("error", self.ask(op="check"))
        self.ask(op="get", path=f"{folder}/below/a")
        self.assertEqual(self.payload, b"first then")
        self.assertEqual(os.stat(f"{folder}/empty").st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(folder).st_mode & 0o077, 0)

    def test_a_file_that_cannot_be_written_is_told(self):
        self.send(b"x", op="put", path="/proc/no/such", first=True, mode=0o600)
        self.assertIn("/proc/no", self.ask(op="check")["error"])
        self.assertNotIn("error", self.ask(op="check"))

    def test_a_growing_file_is_passed_on_and_its_end_told(self):
        folder = self.ask(op="make")["path"]
        self.run_program(f"echo one > {folder}/r.part; sleep 0.6; echo two >> {folder}/r.part; mv {folder}/r.part {folder}/r",
                         files=[[f"{folder}/r", False], [f"{folder}/never", True]])
        heard = self.until("end")
        parts = [payload for event, payload in heard if event["ev"] == "file"]
        self.assertEqual(b"".join(parts), b"one\ntwo\n")
        self.assertGreater(len(parts), 1)
        self.assertEqual(heard[-1][0]["complete"], [True, False])

    def test_removes_only_below_its_own_folder(self):
        victim = tempfile.mkdtemp(dir=self.home)
        self.ask(op="remove", path=victim)
        self.assertTrue(os.path.isdir(victim))

    def test_an_unknown_request_is_an_error_and_no_end(self):
        self.assertIn("error", self.ask(op="dance"))
        self.assertNotIn("error", self.ask(op="make"))

    def test_tells_the_hosts_addresses(self):
        self.assertIn(["lo", "127.0.0.1"], self.hello["addresses"])


if __name__ == "__main__":
    unittest.main()
