"""What `foretrain doctor` asks of a host, in one start: its clock, Pythons with torch or the program that trains instead,
devices, iperf3, routes, load.

Run from memory by the host's own Python (3.8 or newer, nothing else needed) with the questions as JSON in the
environment variable FORETRAIN_PROBE. It prints a line "foretrain-clock SECONDS" at once and a line "foretrain-probe
JSON" at the end; what could not be found out is null there. Nothing is left on the host.
"""

import time

STARTED_S = time.time()
print("foretrain-clock %.6f" % STARTED_S, flush=True)

# pylint: disable=wrong-import-position
import json  # noqa: E402
import os  # noqa: E402
import platform  # noqa: E402
import shutil  # noqa: E402
import socket  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402

BUSY_WINDOW_S = 0.5
IPERF3_LIMIT_S = 10
TRIAL_LIMIT_S = 50
LONGEST_COMPLAINT = 400

# Run by each Python that may be the one that trains; torch may crash it.
TRIAL = r"""
import importlib, json, sys
found = {"version": sys.version.split()[0], "devices": []}
def look(kind, backend):
    if kind in ("npu", "mlu"):
        importlib.import_module("torch_" + kind)
    known = getattr(distributed, "is_%s_available" % backend, None)
    has_backend = known() if known else backend == "gloo" or backend in getattr(distributed.Backend, "backend_list", ())
    module = getattr(torch, kind, None)
    there = kind == "cpu" or bool(module and module.is_available())
    count = module.device_count() if there and kind != "cpu" else int(there)
    name = module.get_device_name(0) if count and kind != "cpu" and hasattr(module, "get_device_name") else None
    return {"backend": bool(has_backend), "count": count, "name": name}
def attempt(kind, backend):
    try:
        return look(kind, backend)
    except BaseException as error:
        return {"error": "%s: %s" % (type(error).__name__, error)}
try:
    import torch
    if getattr(torch, "__file__", None) is None:  # a folder of that name
        raise ModuleNotFoundError("No module named 'torch'")
    import torch.distributed as distributed, torch.utils.data
    found["torch"] = str(torch.__version__)
    if not distributed.is_available():
        found["error"] = "torch without torch.distributed"
    else:
        found["devices"] = [attempt(kind, backend) for kind, backend in json.loads(sys.argv[1])]
except BaseException as error:
    found["error"] = "%s: %s" % (type(error).__name__, error)
print("\nforetrain-trial " + json.dumps(found), flush=True)
"""


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:LONGEST_COMPLAINT] if lines else ""


def run(argv, limit_s, environment=None):
    """(exit status, output) of a program; the status is a sentence where it could not be run or was ended."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, timeout=limit_s, check=False)
    except FileNotFoundError:
        return "it is not there", ""
    except OSError as error:
        return "it cannot be run: %s" % error.strerror, ""
    except subprocess.TimeoutExpired:
        return "no answer within %d s" % limit_s, ""
    return done.returncode, done.stdout.decode(errors="replace")


def read_trial(output):
    """The last answer among what a Python printed, or None."""
    for line in reversed(output.splitlines()):
        if line.startswith("foretrain-trial "):
            try:
                answer = json.loads(line[16:])
            except ValueError:
                return None
            return answer if isinstance(answer, dict) and isinstance(answer.get("devices"), list) else None
    return None


def try_python(path, devices, variables):
    """What a Python says of itself and torch; "error" where it has none that can be used."""
    environment = dict(os.environ)
    environment.pop("FORETRAIN_PROBE", None)
    environment.update(variables)
    status, output = run([path, "-c", TRIAL, json.dumps(devices)], TRIAL_LIMIT_S, environment)
    answer = read_trial(output)
    if answer:
        return dict(answer, path=path)
    if isinstance(status, int):
        how = "exited with status %d" % status if status >= 0 else "was killed by signal %d" % -status
        status = last_line(output) or how
    return {"path": path, "error": status, "devices": []}


def find_python(paths, devices, variables):
    """The first that has torch, with the complaints of those before it; else the last one's."""
    passed_over = []
    found = {"path": None, "error": "there is no python3 on PATH", "devices": []}
    for path in paths:
        found = try_python(path, devices, variables)
        if "error" not in found:
            break
        passed_over.append([path, found["error"]])
    return dict(found, passed_over=passed_over)


class Pythons:
    """Each set of Pythons and variables is tried once, for the devices of all types that share it."""

    def __init__(self, types):
        self._types = types
        self._found = {}

    @staticmethod
    def _key(kind):
        return json.dumps([kind["pythons"], kind["env"]])

    def of(self, kind):
        key = self._key(kind)
        together = [other for other in self._types if self._key(other) == key]
        if key not in self._found:
            devices = [[other["device"], other["backend"]] for other in together]
            self._found[key] = find_python(kind["pythons"], devices, dict(kind["env"]))
        found = dict(self._found[key])
        devices = found.pop("devices")
        place = together.index(kind)
        found["device"] = devices[place] if place < len(devices) else None
        return found


def parse_cpus(text):
    cpus = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def missing_cpus(lists):
    """The lists of which this process may use no CPU."""
    allowed = os.sched_getaffinity(0)
    return [text for text in lists if not parse_cpus(text) & allowed]


def find_program(kind):
    """Where a command's own program is here, None where it is not; "" for one that foretrain brings along."""
    path = dict(kind["env"]).get("PATH", os.environ.get("PATH"))
    return kind["program"] and shutil.which(kind["program"], path=path)


def examine_type(kind, pythons):
    found = pythons.of(kind) if kind["program"] is None else {"program": find_program(kind)}
    return dict(found, missing_cpus=missing_cpus(kind["cpus"]))


def iperf3():
    """Its version, or what is wrong."""
    status, output = run(["iperf3", "--version"], IPERF3_LIMIT_S)
    words = output.split()
    if status == 0 and len(words) > 1:
        return {"version": words[1]}
    return {"error": status if isinstance(status, str) else last_line(output)}


def source_address(peer):
    """The address of ours that the routing table picks for a peer; None where there is no route. Nothing is sent."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in peer else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((peer, 9))
            return probe.getsockname()[0]
    except OSError:
        return None


def speed_bps(interface):
    """Of the link, as its driver says; None where it does not."""
    with open("/sys/class/net/%s/speed" % interface, encoding="ascii") as file:
        speed = int(file.read())
    return speed * 1e6 if speed > 0 else None


def free_bytes():
    status = os.statvfs(".")
    return status.f_bavail * status.f_frsize


def busy_ticks():
    """Of all CPUs since the start: not idle, not waiting."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(field) for field in file.readline().split()[1:9]]
    return sum(fields) - fields[3] - fields[4]


def process_ticks():
    """{pid: (name, ticks)} of what runs, without this process."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="ascii", errors="replace") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        if int(pid) != os.getpid() and len(fields) > 12:
            found[pid] = (name, int(fields[11]) + int(fields[12]))
    return found


def load():
    """How many CPUs others kept busy for a moment, and the busiest of them."""
    tick_s = 1.0 / os.sysconf("SC_CLK_TCK")
    start_s, busy, processes = time.monotonic(), busy_ticks(), process_ticks()
    time.sleep(BUSY_WINDOW_S)
    elapsed_s = time.monotonic() - start_s
    busy = (busy_ticks() - busy) * tick_s / elapsed_s
    growth = [(ticks - processes[pid][1], name) for pid, (name, ticks) in process_ticks().items() if pid in processes]
    ticks, name = max(growth, default=(0, ""))
    return {"busy_cpus": busy, "cpus": os.cpu_count(), "busiest": name if ticks else None,
            "busiest_cpus": ticks * tick_s / elapsed_s}


def is_debian():
    with open("/etc/os-release", encoding="utf-8", errors="replace") as file:
        return "debian" in file.read().lower()


def or_none(function, *args):
    try:
        return function(*args)
    except Exception:  # pylint: disable=broad-except
        return None


def as_paths(value):
    """Texts were sent with each byte as one character, so that paths may be anything."""
    if isinstance(value, str):
        return os.fsdecode(value.encode("latin-1"))
    if isinstance(value, list):
        return [as_paths(each) for each in value]
    return {key: as_paths(each) for key, each in value.items()} if isinstance(value, dict) else value


def main():
    asked = as_paths(json.loads(os.environ["FORETRAIN_PROBE"]))
    pythons = Pythons(asked["types"])
    answer = {
        "load": or_none(load),  # before torch is imported
        "hostname": platform.node(),
        "debian": or_none(is_debian),
        "free_bytes": or_none(free_bytes),
        "iperf3": iperf3() if asked["iperf3"] else None,
        "speed_bps": or_none(speed_bps, asked["interface"]) if asked["interface"] else None,
        "sources": [source_address(peer) for peer in asked["peers"]],
        "types": [examine_type(kind, pythons) for kind in asked["types"]],
    }
    sys.stdout.flush()
    text = "\nforetrain-probe %s\n" % json.dumps(answer, ensure_ascii=False)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
