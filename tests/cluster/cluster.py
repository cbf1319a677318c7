"""A cluster on one machine, for the tests that need one. What it is made of: the text of `cluster`.

    with Cluster(config) as cluster:                       # a dict, or the path of a JSON file
        cluster.exec("a0", "hostname").stdout              # also "control"
        subprocess.run(["ssh", "-F", cluster.ssh_config, "a0", "hostname"])
        before = cluster.counters("a0", "b0")["sent_bytes"]
        cluster.kill_host("b0")
"""

import itertools
import os
import subprocess

from testbed import config as configuration
from testbed import place as places
from testbed import secure_shell, slurm
from testbed.config import CONTROL, ConfigError
from testbed.cpu import Groups
from testbed.entry import enter_command, home, write_entry, write_names
from testbed.run import RunError, run
from testbed.wires import Wires, free_subnet

__all__ = ["CONTROL", "Cluster", "ConfigError", "RunError", "why_not_here"]

_PROGRAMS = ("ip", "tc", "bridge", "nsenter", "unshare", "ssh", "ssh-keygen", "/usr/sbin/sshd")
_SLURM_PROGRAMS = ("munged", "slurmctld", "slurmd", "srun")


def why_not_here(slurm=False):
    """Why no cluster can be made here, or None."""
    if os.geteuid() != 0:
        return "a cluster of network namespaces needs root"
    wanted = _PROGRAMS + (_SLURM_PROGRAMS if slurm else ())
    folders = [*os.environ.get("PATH", "").split(":"), "/usr/sbin", "/sbin"]
    missing = [name for name in wanted if not any(os.access(os.path.join(folder, name), os.X_OK) for folder in folders)]
    if missing:
        return f"not installed: {' '.join(missing)}"
    return _what_is_forbidden()


def _what_is_forbidden():
    """What root may not do here, as in a container, or None."""
    try:
        run("unshare", "--net", "--mount", "--uts", "true")
        allowed = Groups("none").may_be_made()
    except RunError as problem:
        return str(problem)
    return None if allowed else "control groups are read-only here"


class Cluster:
    """One cluster. As a context it is made and removed; or open one that is up: Cluster.open(folder)."""

    def __init__(self, config, folder=None):
        """`config`: a dict or a file's path; `folder`: where its state lies, default one of its own in /run."""
        self._config = configuration.Config(config) if isinstance(config, dict) else configuration.read(config)
        self._owner = None if folder else places.this_process()
        self._attach(places.Place(folder or _own_folder()))
        self.subnet = None

    def _attach(self, place):
        self._place = place
        self._groups = Groups(place.name)
        self._wires = Wires(place.name)

    @classmethod
    def open(cls, folder=places.DEFAULT):
        """The cluster that is up in a folder."""
        state = places.Place(folder).state()
        if state is None:
            raise RunError(f"no cluster is up in {folder}")
        cluster = cls(state["config"], folder)
        cluster.subnet = state["subnet"]
        return cluster

    def __enter__(self):
        for folder in places.abandoned("/run"):
            remove(folder)
        self.up()
        return self

    def __exit__(self, *_):
        self.down()

    def up(self):
        """Make it whole or not at all. Refuses where one with this name is up, or has left something."""
        problem = why_not_here(self._config.slurm)
        if problem:
            raise RunError(problem)
        with places.lock():
            if self._place.state() or self._wires.namespaces() or self._groups.exist():
                raise RunError(f"a cluster {self.name} is up already; `cluster --dir {self.folder} down` removes it")
            self.subnet = free_subnet()
            self._place.make(self._config.document, self.subnet, self._owner)
            try:
                self._make()
            except BaseException:
                _remove(self._place)
                raise

    def _make(self):
        for name in (*self._config.hosts, CONTROL):
            self._place.make_host(name)
        for host in self._config.hosts.values():
            self._groups.make(host.name, host.cpu)
        self._groups.make(CONTROL, None)
        self._wires.make(self._config, self.subnet)
        write_names(self._place, self._config, self.subnet)
        secure_shell.make(self._place, self._config, self.subnet)
        for name in self._config.hosts:
            write_entry(self._place, self._config, name, self._wires.namespace(name), self._groups.path(name))
        write_entry(self._place, self._config, CONTROL, None, self._groups.path(CONTROL))
        secure_shell.start(self._place, self._config.hosts.values(), self.subnet)
        if self._config.slurm:
            slurm.make(self._place, self._config, self.subnet)
            slurm.start(self._place, self._config)

    def down(self):
        """Remove every trace."""
        remove(self.folder)

    @property
    def name(self):
        return self._place.name

    @property
    def folder(self):
        return self._place.folder

    @property
    def hosts(self):
        """The names of the hosts, in order."""
        return list(self._config.hosts)

    @property
    def ssh_config(self):
        """The file for `ssh -F`."""
        return self._place.path("ssh_config")

    @property
    def slurm_conf(self):
        """The file for SLURM_CONF."""
        return slurm.conf(self._place)

    def host(self, name):
        """A host's Host: type, cpu, number."""
        if name not in self._config.hosts:
            raise ConfigError(f"no host {name!r}; there are {', '.join(self.hosts)}")
        return self._config.hosts[name]

    def _check_host(self, host):
        if host != CONTROL:
            self.host(host)

    def address(self, host):
        return self.host(host).address(self.subnet)

    def home(self, host):
        """Root's home folder on a host, or on control, as this machine sees it."""
        return home(self._place, host)

    def command(self, host, *argv):
        """The command that, run on this machine, is `argv` on a host."""
        self._check_host(host)
        return enter_command(self._place, host, *argv)

    def exec(self, host, *argv, timeout=60, check=True, **options):
        """Run a program on a host to its end: a CompletedProcess with text."""
        options = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, **options}
        if "input" in options:
            del options["stdin"]
        return subprocess.run(self.command(host, *argv), timeout=timeout, check=check, **options)

    def popen(self, host, *argv, **options):
        """Start a program on a host: a Popen, whose pid is the program's. Returns when it runs there."""
        self._check_host(host)
        running, ready = os.pipe()
        try:
            command = enter_command(self._place, host, *argv, ready=ready)
            started = subprocess.Popen(command, pass_fds=(ready, *options.pop("pass_fds", ())), **options)
        finally:
            os.close(ready)
            with open(running, "rb") as ends:
                ends.read()
        return started

    def all_counters(self, host):
        """{interface: counters} of a host; see `counters`."""
        self.host(host)
        return self._wires.counters(host)

    def counters(self, host, peer=None):
        """sent_bytes, received_bytes, sent_packets, received_packets of the wire to a peer, or of host0."""
        interface = self._config.wire(host, peer) if peer else "host0"
        return self.all_counters(host)[interface]

    def set_rate(self, host, peer, rate):
        """Change what a host can send to a peer; None: no limit."""
        self._wires.shape(host, self._config.wire(host, peer), rate)

    def set_cpu(self, host, cpu):
        """Change a host's share of a core; None: no limit."""
        self.host(host)
        self._groups.limit(host, cpu)

    def link_down(self, host, peer):
        """Cut the wire between a host and a peer, or control."""
        self._wires.set_down(host, self._config.wire(host, peer))

    def link_up(self, host, peer):
        if peer == CONTROL:
            self._wires.raise_control(self.host(host), self.subnet)
        else:
            self._wires.set_up(host, self._config.wire(host, peer))

    def cut_off(self, host):
        """Cut all wires of a host: it lives on, and nobody reaches it."""
        for interface in self.all_counters(host):
            if interface != "host0":
                self._wires.set_down(host, interface)

    def reconnect(self, host):
        """Mend all wires of a host that was cut off, and wait until it is reached again: neighbours that had given it up
        ask anew, which takes a moment."""
        self.link_up(host, CONTROL)
        for interface in self.all_counters(host):
            self._wires.set_up(host, interface)
        secure_shell.wait_for(self._place, self.host(host), self.subnet)

    def processes(self, host):
        """{pid: command line} of what runs on a host, without the cluster's own daemons."""
        daemons = self._daemons(host)
        commands = {pid: _command_line(pid) for pid in self._groups.pids(host) if pid not in daemons}
        return {pid: command for pid, command in commands.items() if command}

    def _daemons(self, host):
        """The daemons that the cluster has started, by their command lines."""
        names = ("/usr/sbin/sshd -D", "sshd: /usr/sbin/sshd -D", "slurmd -D", "slurmctld -D", "munged")
        return [pid for pid in self._groups.pids(host) if _command_line(pid).startswith(names)]

    def kill_host(self, host):
        """Kill everything that runs on a host, its sshd and slurmd too."""
        self.host(host)
        self._groups.kill(host)

    def kill_processes(self, host):
        """Kill what runs on a host, except the cluster's own daemons."""
        self.host(host)
        self._groups.kill(host, keep=self._daemons(host))

    def start_host(self, host):
        """Start the daemons of a host that was killed."""
        secure_shell.start(self._place, [self.host(host)], self.subnet)
        if self._config.slurm:
            slurm.start_hosts(self._place, [self.host(host)])

    def give_other_host_key(self, host):
        """From now on the known key of a host is not the one that it has."""
        secure_shell.give_other_host_key(self._place, self.host(host), self.subnet)

    def listens(self, host):
        """Whether a host's sshd answers."""
        return secure_shell.listens(self.address(host))


def _own_folder():
    """A folder for a cluster of this process: the first that is not there yet."""
    folders = (f"{places.DEFAULT}-{os.getpid()}-{number}" for number in itertools.count(1))
    return next(folder for folder in folders if not os.path.exists(folder))


def remove(folder):
    """Remove every trace of the cluster in a folder, whatever state it is in."""
    with places.lock():
        _remove(places.Place(folder))


def _remove(place):
    groups, wires = Groups(place.name), Wires(place.name)
    groups.kill()
    wires.remove()
    groups.remove()
    place.remove()
    secure_shell.clean()


def leftovers(folder):
    """What is there of a cluster: processes, namespaces, interfaces, mounts, control groups, the folder."""
    place = places.Place(folder)
    groups, wires = Groups(place.name), Wires(place.name)
    found = [f"process {pid}" for pid in groups.pids() + wires.pids()]
    found += [f"namespace {name}" for name in wires.namespaces()]
    found += [f"mount {point}" for point in place.mounts()]
    if groups.exist():
        found.append(f"control group {groups.path('')}")
    if os.path.exists(place.folder):
        found.append(f"folder {place.folder}")
    return found


def _command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""
