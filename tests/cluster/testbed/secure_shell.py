"""An sshd on each host's own address, with keys that are thrown away, and the client's configuration."""

import os
import socket

from .entry import log_path, start_daemon
from .run import run, wait_until

_PRIVILEGE_FOLDER = "/run/sshd"
_OURS = os.path.join(_PRIVILEGE_FOLDER, "made-for-test-clusters")


def make(place, config, subnet):
    """Keys, known hosts and configuration of the cluster and of each host."""
    _make_key(place.path("user_key"))
    os.rename(place.path("user_key.pub"), place.path("authorized_keys"))
    known = []
    for host in config.hosts.values():
        known.append(f"{host.name},{host.address(subnet)} {_make_key(place.host(host.name, 'host_key'))}")
        _configure_daemon(place, config, host, subnet)
    place.write("known_hosts", "".join(known))
    place.write("ssh_config", _client_configuration(place, config, subnet))


def _make_key(path):
    """A new key pair; returns the public half."""
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path)
    with open(path + ".pub", encoding="ascii") as file:
        return file.read()


def _configure_daemon(place, config, host, subnet):
    lines = [
        f"ListenAddress {host.address(subnet)}:22",
        f"HostKey {place.host(host.name, 'host_key')}",
        f"AuthorizedKeysFile {place.path('authorized_keys')}",
        "PidFile none",
        "PermitRootLogin prohibit-password",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "UsePAM no",
        "UseDNS no",
        "StrictModes no",
        "PrintMotd no",
        "MaxStartups 200",
        "MaxSessions 200",
        "Subsystem sftp internal-sftp",
    ]
    if config.slurm:
        lines.append(f"SetEnv SLURM_CONF={place.path('slurm.conf')}")
    place.write(f"hosts/{host.name}/sshd_config", "\n".join(lines) + "\n", 0o600)


def _client_configuration(place, config, subnet):
    blocks = [f"Host {host.name}\n    HostName {host.address(subnet)}\n" for host in config.hosts.values()]
    blocks.append(
        f"Host {' '.join(config.hosts)} {subnet}.*\n"
        "    User root\n"
        f"    IdentityFile {place.path('user_key')}\n"
        "    IdentitiesOnly yes\n"
        "    IdentityAgent none\n"
        f"    UserKnownHostsFile {place.path('known_hosts')}\n"
        "    GlobalKnownHostsFile /dev/null\n"
        "    StrictHostKeyChecking yes\n"
        "    PasswordAuthentication no\n"
    )
    return "".join(blocks)


def start(place, hosts, subnet):
    """Start these hosts' daemons and wait until they listen."""
    if not os.path.isdir(_PRIVILEGE_FOLDER):
        os.mkdir(_PRIVILEGE_FOLDER, 0o755)
        with open(_OURS, "w", encoding="ascii"):
            pass
    for host in hosts:
        start_daemon(place, host.name, "sshd", "/usr/sbin/sshd", "-D", "-e", "-f", place.host(host.name, "sshd_config"))
    for host in hosts:
        wait_for(place, host, subnet)


def wait_for(place, host, subnet):
    """Wait until a host's sshd answers."""
    wait_until(lambda: listens(host.address(subnet)), 30, f"sshd on {host.name}", log_path(place, host.name, "sshd"))


def listens(address):
    try:
        with socket.create_connection((address, 22), 0.5) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def give_other_host_key(place, host, subnet):
    """Make the known key of a host differ from the one it has."""
    other = _make_key(place.host(host.name, "other_key"))
    with open(place.path("known_hosts"), encoding="ascii") as file:
        lines = [line for line in file if not line.startswith(host.name + ",")]
    place.write("known_hosts", "".join([*lines, f"{host.name},{host.address(subnet)} {other}"]))


def clean():
    """Remove sshd's folder where no cluster's or other sshd needs it any more."""
    if os.path.exists(_OURS) and not _some_sshd_runs():
        os.unlink(_OURS)
        os.rmdir(_PRIVILEGE_FOLDER)


def _some_sshd_runs():
    return any(_program(pid) == "sshd" for pid in os.listdir("/proc") if pid.isdigit())


def _program(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""
