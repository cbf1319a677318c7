"""Slurm on the cluster: munged and slurmctld at control, a slurmd per host, a partition and a feature per type."""

import os

from .config import CONTROL
from .entry import log_path, start_daemon
from .run import run, wait_until
from .wires import control_address

_SETTINGS = """\
ClusterName=foretrain
SlurmctldHost=control({control})
CommunicationParameters=NoCtldInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/slurmctld
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdSpoolDir={folder}/hosts/%n/slurmd
SlurmdPidFile={folder}/hosts/%n/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
MpiDefault=none
ReturnToService=2
SlurmdTimeout=20
KillWait=5
"""


def conf(place):
    """The file for SLURM_CONF."""
    return place.path("slurm.conf")


def make(place, config, subnet):
    """Configuration, munge's key, and the folders that the daemons want."""
    lines = [_SETTINGS.format(control=control_address(subnet), folder=place.folder)]
    lines += [
        f"NodeName={host.name} NodeAddr={host.address(subnet)} CPUs={os.cpu_count()} Features={host.type}\n"
        for host in config.hosts.values()
    ]
    lines.append(f"PartitionName=all Nodes={','.join(config.hosts)} Default=YES\n")
    for kind in config.types:
        members = ",".join(host.name for host in config.hosts.values() if host.type == kind)
        lines.append(f"PartitionName={kind} Nodes={members}\n")
    place.write("slurm.conf", "".join(lines))
    place.write("cgroup.conf", "CgroupPlugin=cgroup/v1\n")
    os.mkdir(place.path("munge"), 0o755)
    os.mkdir(place.path("slurmctld"), 0o700)
    place.write("munge/key", os.urandom(128).hex(), 0o400)


def start(place, config):
    """Start everything and wait until all hosts are ready for jobs."""
    files = [f"--{name}-file={place.path('munge', name)}" for name in ("key", "pid", "seed", "log")]
    start_daemon(place, CONTROL, "munged", "munged", "--foreground", f"--socket={place.path('munge/socket')}", *files)
    wait_until(lambda: os.path.exists(place.path("munge/socket")), 20, "munged", log_path(place, CONTROL, "munged"))
    start_daemon(place, CONTROL, "slurmctld", "slurmctld", "-D", "-f", conf(place))
    start_hosts(place, config.hosts.values())


def start_hosts(place, hosts):
    """Start these hosts' slurmd and wait until they are ready for jobs."""
    for host in hosts:
        start_daemon(place, host.name, "slurmd", "slurmd", "-D", "-N", host.name, "-f", conf(place))
    names = {host.name for host in hosts}
    what, log = f"Slurm with idle hosts {' '.join(sorted(names))}", log_path(place, CONTROL, "slurmctld")
    wait_until(lambda: names <= idle(place), 60, what, log)


def idle(place):
    """The hosts that would take a job now."""
    listed = run("env", f"SLURM_CONF={conf(place)}", "sinfo", "-h", "-N", "-o", "%N %T", check=False)
    return {name for name, state in map(str.split, listed.splitlines()) if state == "idle"}
