"""CPU shares and the processes of a host: a control group each, of version 1 or 2, whichever the machine has."""

import os
import signal
import time

from .run import RunError, wait_until

_PERIOD_US = 10000
# Of the processors' time in dispute, against what else the machine does: 64 and 100 times a usual process.
_SHARES_V1 = 65536
_WEIGHT_V2 = 10000


def _mounts():
    with open("/proc/self/mounts", encoding="utf-8") as file:
        for line in file:
            _, folder, kind, options = line.split()[:4]
            yield folder, kind, options.split(",")


def _controller():
    """(folder, version) of the machine's cpu controller."""
    unified = None
    for folder, kind, options in _mounts():
        if kind == "cgroup" and "cpu" in options:
            return folder, 1
        if kind == "cgroup2":
            unified = folder
    if unified and "cpu" in _read(f"{unified}/cgroup.controllers").split():
        return unified, 2
    raise RunError("this machine has no cpu controller for control groups")


def _read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def _write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


class Groups:
    """The control groups of a cluster: NAME/HOST for each host, NAME/control without a limit."""

    def __init__(self, name):
        root, self._version = _controller()
        self._root = root
        self._folder = os.path.join(root, name)

    def may_be_made(self):
        """Whether this user may make control groups here."""
        return os.access(self._root, os.W_OK)

    def exist(self):
        return os.path.isdir(self._folder)

    def path(self, host):
        return os.path.join(self._folder, host)

    def make(self, host, cpu):
        """A host's group; `cpu` is its share of one core, or None."""
        if not self.exist():
            self._make_folder()
        os.mkdir(self.path(host))
        self.limit(host, cpu)

    def _make_folder(self):
        """The hosts' common group, whose processes go first, so that a share is what they get."""
        os.mkdir(self._folder)
        if self._version == 2:
            _write(f"{self._root}/cgroup.subtree_control", "+cpu")
            _write(f"{self._folder}/cgroup.subtree_control", "+cpu")
            _write(f"{self._folder}/cpu.weight", str(_WEIGHT_V2))
        else:
            _write(f"{self._folder}/cpu.shares", str(_SHARES_V1))

    def limit(self, host, cpu):
        quota = None if cpu is None else round(cpu * _PERIOD_US)
        if self._version == 2:
            _write(f"{self.path(host)}/cpu.max", f"{quota or 'max'} {_PERIOD_US}")
            return
        _write(f"{self.path(host)}/cpu.cfs_period_us", str(_PERIOD_US))
        _write(f"{self.path(host)}/cpu.cfs_quota_us", str(quota or -1))

    def pids(self, host=""):
        """The processes of a host, or of the whole cluster; never this one."""
        found = []
        for folder, _, _ in os.walk(self.path(host) if host else self._folder):
            try:
                found += map(int, _read(f"{folder}/cgroup.procs").split())
            except OSError:
                continue
        return [pid for pid in found if pid not in (0, os.getpid())]

    def kill(self, host="", keep=()):
        """End all processes of a host, or of the whole cluster, except those in `keep`."""
        kill_all(lambda: [pid for pid in self.pids(host) if pid not in keep])

    def remove(self):
        for folder, _, _ in os.walk(self._folder, topdown=False):
            wait_until(lambda folder=folder: _removed(folder), 10, f"empty control group {folder}")


def _removed(folder):
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def kill_all(pids):
    """Kill what `pids()` names until it names nothing more."""
    deadline = time.monotonic() + 20
    while left := pids():
        if time.monotonic() > deadline:
            raise RunError(f"processes do not end: {left}")
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.01)
