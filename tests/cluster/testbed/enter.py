"""Becomes a program on a host of the cluster: `enter.py [--detach LOG | --ready DESCRIPTOR] ENTRY ARGV...`.

ENTRY is a JSON file with the host's network namespace (null: this machine's), name, what is mounted where, control
group and environment. DESCRIPTOR is closed once the program runs there. Mounts and name are private to the program
and its children, so nothing of them outlives it.
"""

import ctypes
import json
import os
import socket
import sys

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUTS = 0x04000000
_CLONE_NEWNET = 0x40000000
_MS_BIND = 0x1000
_MS_MOVE = 0x2000
_MS_REC = 0x4000
_MS_SLAVE = 0x80000

_libc = ctypes.CDLL(None, use_errno=True)


def _check(status, what):
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _mount(source, target, kind, flags):
    encoded = [None if text is None else text.encode() for text in (source, target, kind)]
    _check(_libc.mount(*encoded, ctypes.c_ulong(flags), None), f"mount {source} on {target}")


def _show_own_interfaces(folder):
    """A /sys of this network, with the machine's control groups in it."""
    _mount("sysfs", folder, "sysfs", 0)
    _mount("/sys/fs/cgroup", f"{folder}/fs/cgroup", None, _MS_BIND | _MS_REC)
    _mount(folder, "/sys", None, _MS_MOVE)


def _join_network(path):
    with open(path, "rb") as file:
        _check(_libc.setns(file.fileno(), _CLONE_NEWNET), f"enter {path}")


def enter(entry):
    """Make this process one of the host that `entry` describes."""
    if entry["netns"]:
        _join_network(entry["netns"])
    _check(_libc.unshare(_CLONE_NEWNS | _CLONE_NEWUTS), "unshare")
    _mount(None, "/", None, _MS_REC | _MS_SLAVE)
    if entry["netns"]:
        _show_own_interfaces(entry["sys"])
    for source, target in entry["binds"]:
        _mount(source, target, None, _MS_BIND)
    socket.sethostname(entry["hostname"])
    os.environ.update(entry["environment"])
    os.chdir(os.getcwd())


def _join_group(folder):
    with open(f"{folder}/cgroup.procs", "w", encoding="ascii") as file:
        file.write("0")


def _detach(log):
    """Go on as a daemon whose output goes to a file."""
    if os.fork():
        os._exit(0)
    os.setsid()
    os.chdir("/")
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)


def become(entry_path, argv, log=None):
    """Never returns: enters the host and becomes the program."""
    with open(entry_path, encoding="utf-8") as file:
        entry = json.load(file)
    enter(entry)
    if log:
        _detach(log)
    _join_group(entry["cgroup"])
    os.execvp(argv[0], argv)


def _main(arguments):
    log = None
    if arguments[0] == "--detach":
        log, arguments = arguments[1], arguments[2:]
    elif arguments[0] == "--ready":
        os.set_inheritable(int(arguments[1]), False)
        arguments = arguments[2:]
    try:
        become(arguments[0], arguments[1:], log)
    except OSError as problem:
        print(f"cluster: {problem}", file=sys.stderr)
        return 127 if isinstance(problem, FileNotFoundError) else 126
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
