"""What a cluster shall be: reads and checks its configuration. The format is in the text of `cluster`."""

import itertools
import json
import re
from dataclasses import dataclass

CONTROL = "control"
_RESERVED = {CONTROL, "switch", "all", "localhost"}
_HOST_NAME = re.compile(r"[a-z][a-z0-9]{0,7}")
_TYPE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,15}")
_RATE = re.compile(r"[0-9]+(\.[0-9]+)?[kmg]bit")
_SIZE = re.compile(r"[0-9]+[kmg]")
_MAX_HOSTS = 250
_MIN_CPU = 0.1


class ConfigError(Exception):
    """The configuration, or what was asked of a cluster, makes no sense."""


@dataclass(frozen=True)
class Host:
    name: str
    type: str
    cpu: float | None
    number: int

    def address(self, subnet):
        return f"{subnet}.{self.number}"


@dataclass(frozen=True)
class Uplink:
    groups: list
    rate: str

    def joins(self, one, other):
        """Whether these hosts reach each other through this uplink."""
        group_of = {host: index for index, group in enumerate(self.groups) for host in group}
        return one in group_of and other in group_of and group_of[one] != group_of[other]


class Config:
    """A checked configuration: hosts {name: Host}, rates {(from, to): rate}, uplinks, slurm, private, hidden."""

    def __init__(self, document):
        _expect(isinstance(document, dict), f"a configuration is an object, not {document!r}")
        _known(document, {"types", "links", "uplinks", "slurm", "private", "hidden"}, "the configuration")
        self.document = document
        self.hosts = _hosts(document.get("types", {}))
        self.uplinks = [_uplink(entry, self.hosts) for entry in document.get("uplinks", [])]
        self.rates = _rates(document.get("links", {}), self.hosts, self.uplinks)
        self.slurm = bool(document.get("slurm", False))
        self.private = _private(document.get("private", {}))
        self.hidden = _hidden(document.get("hidden", {}), self.hosts)

    @property
    def types(self):
        return sorted({host.type for host in self.hosts.values()})

    def pairs(self):
        """The pairs of hosts that a wire of their own joins, each once."""
        return [(one, other) for one, other in itertools.combinations(self.hosts, 2) if (one, other) in self.rates]

    def peers(self, host):
        """The hosts that a wire of their own joins with this one."""
        return [peer for peer in self.hosts if (host, peer) in self.rates]

    def joined(self, host, peer):
        """Whether a wire or an uplink joins two hosts."""
        return (host, peer) in self.rates or any(uplink.joins(host, peer) for uplink in self.uplinks)

    def wire(self, host, peer):
        """The interface of a host on the way to a peer."""
        _expect(host in self.hosts, f"no host {host!r}; there are {', '.join(self.hosts)}")
        if peer == CONTROL:
            return CONTROL
        if (host, peer) in self.rates:
            return f"to-{peer}"
        for index, uplink in enumerate(self.uplinks):
            if uplink.joins(host, peer):
                return f"up{index}"
        raise ConfigError(f"nothing joins {host} and {peer}")


def read(path):
    """The configuration in a JSON file."""
    try:
        with open(path, encoding="utf-8") as file:
            return Config(json.load(file))
    except OSError as problem:
        raise ConfigError(f"{path}: {problem.strerror}") from problem
    except ValueError as problem:
        raise ConfigError(f"{path}: {problem}") from problem


def _expect(holds, problem):
    if not holds:
        raise ConfigError(problem)


def _known(mapping, keys, where):
    for key in mapping:
        _expect(key in keys, f"unknown key {key!r} in {where}; known are {', '.join(sorted(keys))}")


def _hosts(types):
    _expect(isinstance(types, dict) and types, "types are missing")
    hosts = {}
    for kind, entry in types.items():
        _expect(_TYPE_NAME.fullmatch(kind), f"{kind!r} cannot be the name of a type: letters and digits")
        _known(entry, {"cpu", "hosts"}, f"type {kind}")
        cpu = entry.get("cpu")
        _expect(cpu is None or cpu >= _MIN_CPU, f"cpu of type {kind} must be at least {_MIN_CPU} (got {cpu})")
        for name in entry.get("hosts", []):
            _expect(_HOST_NAME.fullmatch(name), f"{name!r} cannot be the name of a host: 1 to 8 small letters, digits")
            _expect(name not in hosts and name not in types and name not in _RESERVED, f"the name {name!r} is taken")
            hosts[name] = Host(name, kind, cpu, len(hosts) + 1)
    _expect(1 <= len(hosts) <= _MAX_HOSTS, f"a cluster has 1 to {_MAX_HOSTS} hosts (got {len(hosts)})")
    return hosts


def _rate(text):
    _expect(isinstance(text, str) and _RATE.fullmatch(text), f"{text!r} is no rate; one looks like 150mbit")
    return text


def bits_per_second(rate):
    """A rate of the configuration as a number."""
    return round(float(rate[:-4]) * {"k": 1e3, "m": 1e6, "g": 1e9}[rate[-4]])


def _uplink(entry, hosts):
    _known(entry, {"groups", "rate"}, "an uplink")
    groups = entry.get("groups", [])
    members = [host for group in groups for host in group]
    _expect(len(groups) >= 2, "an uplink joins two or more groups of hosts")
    _expect(len(set(members)) == len(members), "an uplink has a host twice")
    for host in members:
        _expect(host in hosts, f"no host {host!r} for an uplink")
    return Uplink(groups, _rate(entry.get("rate")))


def _rates(links, hosts, uplinks):
    names = set(hosts) | {host.type for host in hosts.values()}
    for key in links:
        ends = re.split("[->]", key)
        _expect(key == "*" or (len(ends) == 2 and set(ends) <= names), f"{key!r} in links: no such hosts or types")
    rates = {}
    for source, target in itertools.permutations(hosts.values(), 2):
        rate = _rate_between(links, source, target)
        if rate is None:
            continue
        joined = any(uplink.joins(source.name, target.name) for uplink in uplinks)
        if not joined:
            rates[source.name, target.name] = _rate(rate)
    for source, target in rates:
        _expect((target, source) in rates, f"there is a rate from {source} to {target}, but none back")
    return rates


def _rate_between(links, source, target):
    for one, other in ((source.name, target.name), (source.type, target.type)):
        for key in (f"{one}>{other}", f"{one}-{other}", f"{other}-{one}"):
            if key in links:
                return links[key]
    return links.get("*")


def _private(folders):
    for folder, size in folders.items():
        _expect(folder.startswith("/") and folder != "/", f"{folder!r}: a private folder is an absolute path")
        _expect(size is None or _SIZE.fullmatch(size), f"{size!r} is no size for {folder}; one looks like 16m")
    return folders


def _hidden(paths_by_host, hosts):
    for host in paths_by_host:
        _expect(host in hosts, f"no host {host!r} in hidden")
    return paths_by_host
