"""The folder in which everything about one cluster lies, and the lock against two commands at once."""

import contextlib
import fcntl
import json
import os
import shutil
import time

from .run import RunError, run

DEFAULT = "/run/foretrain-cluster"
_FORMAT = "foretrain.cluster/1"
_LOCK_WAIT_S = 120


class Place:
    """A cluster's folder. Its last part is the cluster's name."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.name = os.path.basename(self.folder)
        if not self.name or "/" in self.name or self.name.startswith("."):
            raise RunError(f"{folder!r} cannot be a cluster's folder")

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def host(self, name, *parts):
        return self.path("hosts", name, *parts)

    def make_host(self, name):
        os.makedirs(self.host(name, "sys"), mode=0o755)

    def write(self, relative, text, mode=0o644):
        """Write a file whole or not at all."""
        path = self.path(relative)
        descriptor = os.open(path + ".part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + ".part", path)
        return path

    def make(self, document, subnet, owner):
        os.makedirs(self.folder, mode=0o755)
        state = {"format": _FORMAT, "config": document, "subnet": subnet, "owner": owner}
        self.write("state.json", json.dumps(state, indent=2) + "\n")
        self.write("nothing", "", 0o000)
        os.mkdir(self.path("empty"))

    def state(self):
        """What was noted when the cluster was made, or None where there is none."""
        try:
            with open(self.path("state.json"), encoding="utf-8") as file:
                state = json.load(file)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not isinstance(state, dict) or state.get("format") != _FORMAT:
            raise RunError(f"{self.path('state.json')} is not a cluster's")
        return state

    def mounts(self):
        """What is mounted in the folder, the deepest first."""
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            points = [line.split()[4] for line in file]
        return sorted((point for point in points if point.startswith(self.folder + "/")), key=len, reverse=True)

    def remove(self):
        for point in self.mounts():
            run("umount", point)
        if not os.path.isdir(self.folder):
            return
        if self.state() is None and os.listdir(self.folder) not in ([], ["state.json.part"]):
            raise RunError(f"{self.folder} is not a cluster's folder: it stays")
        shutil.rmtree(self.folder)


@contextlib.contextmanager
def lock():
    """One command at a time makes or removes clusters on this machine; leaves no file behind."""
    descriptor = os.open("/run", os.O_RDONLY | os.O_DIRECTORY)
    deadline = time.monotonic() + _LOCK_WAIT_S
    try:
        while not _locked(descriptor):
            if time.monotonic() > deadline:
                raise RunError(f"another cluster command has been at work for {_LOCK_WAIT_S} s")
            time.sleep(0.1)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor):
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def this_process():
    """[pid, when it started]: names a process for good."""
    return [os.getpid(), start_time(os.getpid())]


def start_time(pid):
    """When a process started, in the kernel's ticks, or None where there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except (FileNotFoundError, ProcessLookupError):
        return None


def abandoned(parent):
    """The folders below `parent` of clusters whose owner has ended without removing them."""
    found = []
    for name in sorted(os.listdir(parent)):
        try:
            state = Place(os.path.join(parent, name)).state()
        except (RunError, ValueError, PermissionError):
            continue
        if state and state["owner"] and start_time(state["owner"][0]) != state["owner"][1]:
            found.append(os.path.join(parent, name))
    return found
