"""The command `cluster`."""

import os
import sys

import cluster
from testbed import place as places
from testbed.config import CONTROL, ConfigError
from testbed.enter import become
from testbed.entry import entry_path
from testbed.run import RunError

_SKIPPED = 77


def _up(folder, args):
    made = cluster.Cluster(args[0], folder)
    made.up()
    for host in made.hosts:
        print(f"{host} {made.address(host)}")
    print(f"ssh -F {made.ssh_config} {made.hosts[0]}")
    return 0


def _down(folder, _args):
    cluster.remove(folder)
    return 0


def _status(folder, _args):
    if places.Place(folder).state() is None:
        left = cluster.leftovers(folder)
        print("\n".join(left) if left else f"no cluster is up in {folder}")
        return 1
    found = cluster.Cluster.open(folder)
    print(f"{'host':9} {'address':13} {'type':9} {'cpu':5} {'sshd':5} processes")
    for name in found.hosts:
        host = found.host(name)
        running = len(found.processes(name))
        sshd = "up" if found.listens(name) else "down"
        print(f"{name:9} {found.address(name):13} {host.type:9} {host.cpu or '-':<5} {sshd:5} {running}")
    return 0


def _exec(folder, args):
    host, argv = args[0], args[2:] if args[1:2] == ["--"] else args[1:]
    found = cluster.Cluster.open(folder)
    if host != CONTROL:
        found.host(host)
    try:
        become(entry_path(places.Place(folder), host), argv)
    except OSError as problem:
        raise RunError(problem) from problem


def _counters(folder, args):
    by_interface = cluster.Cluster.open(folder).all_counters(args[0])
    if len(args) == 2 and args[1] not in by_interface:
        raise ConfigError(f"{args[0]} has no interface {args[1]!r}; it has {', '.join(by_interface)}")
    for interface in args[1:] or by_interface:
        counts = " ".join(f"{name}={count}" for name, count in by_interface[interface].items())
        print(f"{interface} {counts}")
    return 0


# name: (function, fewest arguments, most arguments)
_COMMANDS = {
    "up": (_up, 1, 1),
    "down": (_down, 0, 0),
    "status": (_status, 0, 0),
    "exec": (_exec, 2, None),
    "counters": (_counters, 1, 2),
}


def main(usage):
    """Do what the command line asks; returns the exit status."""
    args, folder = sys.argv[1:], places.DEFAULT
    if args in (["--help"], ["-h"]):
        print(usage)
        return 0
    if args[:1] == ["--dir"] and len(args) >= 2:
        folder, args = args[1], args[2:]
    function, fewest, most = _COMMANDS.get(args[0] if args else None, (None, 0, 0))
    if function is None or not fewest <= len(args) - 1 <= (most if most is not None else len(args)):
        print(usage, file=sys.stderr)
        return 2
    if os.geteuid() != 0:
        print("cluster: skipped: network namespaces, control groups and sshd need root", file=sys.stderr)
        return _SKIPPED
    try:
        return function(folder, args[1:])
    except (RunError, ConfigError, OSError) as problem:
        print(f"cluster: {problem}", file=sys.stderr)
        return 1
