"""What enter.py must know of a host: network, name, mounts, control group, environment. And the files behind it."""

import json
import os
import sys

from .config import CONTROL, ConfigError
from .run import run
from .wires import control_address

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ENTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "enter.py")


def entry_path(place, host):
    return place.host(host, "entry.json")


def enter_command(place, host, *argv, log=None, ready=None):
    """The command that becomes `argv` on a host; with `log` as a daemon; `ready`: a descriptor, closed when it has."""
    options = ["--detach", log] if log else []
    options += ["--ready", str(ready)] if ready else []
    return [sys.executable, "-ISB", _ENTER, *options, entry_path(place, host), *argv]


def log_path(place, host, name):
    """Where a daemon's output goes."""
    return place.host(host, f"{name}.log")


def start_daemon(place, host, name, *argv):
    """Start a program that stays; what it says goes to NAME.log in the host's folder."""
    run(*enter_command(place, host, *argv, log=log_path(place, host, name)))


def write_names(place, config, subnet):
    """The cluster's /etc/hosts."""
    lines = ["127.0.0.1 localhost", f"{control_address(subnet)} {CONTROL}"]
    lines += [f"{host.address(subnet)} {host.name}" for host in config.hosts.values()]
    place.write("hosts_file", "\n".join(lines) + "\n")


def home(place, host):
    """The home folder that root has on a host."""
    return place.host(host, "home")


def _write_home(place, host):
    """A home without the machine's habits, where the cluster's ssh configuration is the user's own."""
    os.makedirs(os.path.join(home(place, host), ".ssh"), mode=0o700)
    os.symlink(place.path("ssh_config"), os.path.join(home(place, host), ".ssh", "config"))
    with open("/etc/passwd", encoding="utf-8") as file:
        others = [line for line in file if not line.startswith("root:")]
    place.write(f"hosts/{host}/passwd", "".join([f"root:x:0:0:root:{home(place, host)}:/bin/bash\n", *others]))


def write_entry(place, config, host, namespace, group):
    """A host's entry, and everything of its own that is mounted there; control has no namespace."""
    place.write(f"hosts/{host}/hostname", host + "\n")
    _write_home(place, host)
    binds = [
        (place.path("hosts_file"), "/etc/hosts"),
        (place.host(host, "hostname"), "/etc/hostname"),
        (place.host(host, "passwd"), "/etc/passwd"),
    ]
    if namespace:
        binds += _private(place, config, host) + _hidden(place, config, host)
    entry = {
        "netns": f"/run/netns/{namespace}" if namespace else None,
        "hostname": host,
        "sys": place.host(host, "sys"),
        "binds": [(source, target) for source, target in binds if os.path.exists(target)],
        "cgroup": group,
        "environment": _environment(place, config, host),
    }
    place.write(f"hosts/{host}/entry.json", json.dumps(entry, indent=2) + "\n")


def _environment(place, config, host):
    environment = {"HOME": home(place, host)}
    if host != CONTROL:
        environment["PATH"] = _PATH
    if config.slurm:
        environment["SLURM_CONF"] = place.path("slurm.conf")
    return environment


def _private(place, config, host):
    binds = []
    for number, (folder, size) in enumerate(config.private.items()):
        if not os.path.isdir(folder):
            raise ConfigError(f"a private folder must be there on this machine: {folder}")
        own = place.host(host, f"private{number}")
        os.mkdir(own)
        if size:
            run("mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "tmpfs", own)
        os.chmod(own, os.stat(folder).st_mode & 0o7777)
        binds.append((own, folder))
    return binds


def _hidden(place, config, host):
    return [
        (place.path("empty" if os.path.isdir(path) else "nothing"), path) for path in config.hidden.get(host, [])
    ]
