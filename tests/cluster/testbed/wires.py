"""Networks of the hosts: a namespace each, a shaped wire for each pair, shared uplinks, and the way to control."""

import json
import os

from .config import CONTROL, bits_per_second
from .cpu import kill_all
from .run import batch, run

_SHAPE = "burst 64kb latency 20ms"
_BURST_BYTES = 65536
_QUEUE_S = 0.02
_QUANTUM_BYTES = 3028
_FOREVER = 8640000
_CONTROL_NUMBER = 254


def namespaces():
    """The names of all network namespaces that have one."""
    try:
        return sorted(os.listdir("/run/netns"))
    except FileNotFoundError:
        return []


def free_subnet():
    """The first of 10.9.0 to 10.9.254 that this machine does not use yet."""
    addresses = json.loads(run("ip", "-json", "-4", "address", "show"))
    used = {entry["local"] for link in addresses for entry in link.get("addr_info", []) if "local" in entry}
    prefixes = {address.rpartition(".")[0] for address in used}
    return next(f"10.9.{number}" for number in range(255) if f"10.9.{number}" not in prefixes)


class Wires:
    """The networks of a cluster called `name`."""

    def __init__(self, name):
        self._prefix = name + "."

    def namespace(self, host):
        return self._prefix + host

    def namespaces(self):
        return [name for name in namespaces() if name.startswith(self._prefix)]

    def pids(self):
        """Processes that live in the cluster's networks."""
        found = []
        for name in self.namespaces():
            found += map(int, run("ip", "netns", "pids", name, check=False).split())
        return found

    def make(self, config, subnet):
        for host in config.hosts.values():
            self._make_host(host, subnet)
        self._join_pairs(config)
        if config.uplinks:
            self._add("switch")
        for index, uplink in enumerate(config.uplinks):
            self._make_uplink(config, subnet, index, uplink)
        for host in config.hosts.values():
            self._introduce(config, host, subnet)
            self._join_control(host, subnet)

    def _add(self, host):
        namespace = self.namespace(host)
        run("ip", "netns", "add", namespace)
        quiet = "/proc/sys/net/ipv6/conf/default/disable_ipv6"
        if os.path.exists(quiet):
            run("nsenter", f"--net=/run/netns/{namespace}", "tee", quiet, text="1")
        batch("ip", ["link set lo up"], "-n", namespace)

    def _make_host(self, host, subnet):
        self._add(host.name)
        batch("ip", [
            f"link add host0 address {_mac(host, subnet)} type bridge forward_delay 0 ageing_time {_FOREVER}",
            f"address add {host.address(subnet)}/24 dev host0",
            "link set host0 up",
        ], "-n", self.namespace(host.name))

    def _join_pairs(self, config):
        """A wire for each pair, shaped at both ends."""
        batch("ip", [
            f"link add to-{other} netns {self.namespace(one)} type veth"
            f" peer name to-{one} netns {self.namespace(other)}"
            for one, other in config.pairs()
        ])
        for host in config.hosts:
            peers, there = config.peers(host), self.namespace(host)
            batch("ip", [line for peer in peers for line in _plugging(f"to-{peer}", "host0", "on")], "-n", there)
            batch("tc", [_shaping(f"to-{peer}", config.rates[host, peer]) for peer in peers], "-n", there)

    def _plug(self, host, interface, bridge="host0", isolated="on"):
        batch("ip", _plugging(interface, bridge, isolated), "-n", self.namespace(host))

    def shape(self, host, interface, rate):
        """Limit what a host sends through an interface; None takes the limit away."""
        namespace = self.namespace(host)
        if rate is None:
            run("tc", "-n", namespace, "qdisc", "del", "dev", interface, "root", check=False)
        else:
            batch("tc", [_shaping(interface, rate)], "-n", namespace)

    def _share(self, host, interface, uplink, senders):
        """Limit what goes through an interface, and share it evenly between those who send at the moment."""
        rate_bps = bits_per_second(uplink.rate)
        limit_bytes, each_bps = round(_BURST_BYTES + rate_bps / 8 * _QUEUE_S), rate_bps // len(senders)
        shape = f"ceil {rate_bps}bit burst {_BURST_BYTES} cburst {_BURST_BYTES} quantum {_QUANTUM_BYTES}"
        lines = [
            f"qdisc replace dev {interface} root handle 1: htb default ffff",
            f"class add dev {interface} parent 1: classid 1:fffe htb rate {rate_bps}bit {shape}",
            f"class add dev {interface} parent 1:fffe classid 1:ffff htb rate 8kbit {shape}",
        ]
        for number, sender in enumerate(senders, 1):
            lines += [
                f"class add dev {interface} parent 1:fffe classid 1:{number:x} htb rate {each_bps}bit {shape}",
                f"qdisc add dev {interface} parent 1:{number:x} bfifo limit {limit_bytes}",
                f"filter add dev {interface} parent 1: protocol ip u32 match ip src {sender}/32 flowid 1:{number:x}",
            ]
        batch("tc", lines, "-n", self.namespace(host))

    def _make_uplink(self, config, subnet, index, uplink):
        """Groups of hosts, each at a bridge of its own, whose one shaped wire leads to the core."""
        at_switch, core = self.namespace("switch"), f"u{index}core"
        members = [host for group in uplink.groups for host in group]
        batch("ip", [f"link add {core} type bridge forward_delay 0", f"link set {core} up"], "-n", at_switch)
        for number, group in enumerate(uplink.groups):
            bridge = f"u{index}g{number}"
            batch("ip", [
                f"link add {bridge} type bridge forward_delay 0", f"link set {bridge} up",
                f"link add {bridge}up type veth peer name {bridge}down",
            ], "-n", at_switch)
            self._plug("switch", f"{bridge}up", bridge, "off")
            self._plug("switch", f"{bridge}down", core, "off")
            for interface in (f"{bridge}up", f"{bridge}down"):
                self._share("switch", interface, uplink, [config.hosts[host].address(subnet) for host in members])
            for host in group:
                port = f"u{index}-{host}"
                run("ip", "link", "add", f"up{index}", "netns", self.namespace(host), "type", "veth",
                    "peer", "name", port, "netns", at_switch)
                self._plug(host, f"up{index}")
                self._plug("switch", port, bridge)

    def _introduce(self, config, host, subnet):
        """Tell a host its peers' addresses for good: a cut link is silent, and works at once when it is mended."""
        there, addresses, ways = self.namespace(host.name), [], []
        for peer in config.hosts.values():
            if peer != host and config.joined(host.name, peer.name):
                mac, wire = _mac(peer, subnet), config.wire(host.name, peer.name)
                addresses.append(f"neighbour replace {peer.address(subnet)} lladdr {mac} dev host0 nud permanent")
                ways.append(f"fdb replace {mac} dev {wire} master static")
        batch("ip", addresses, "-n", there)
        batch("bridge", ways, "-n", there)

    def _join_control(self, host, subnet):
        """An interface at each end, with routes to these two addresses only."""
        here, there = control_interface(host.name, subnet), self.namespace(host.name)
        at_host, at_control = host.address(subnet), control_address(subnet)
        run("ip", "link", "add", CONTROL, "netns", there, "type", "veth", "peer", "name", here)
        self.raise_control(host, subnet)
        batch("ip", [
            f"address add {at_control}/32 dev {here}", f"link set {here} up",
            f"route add {at_host}/32 dev {here} src {at_control}",
        ])

    def raise_control(self, host, subnet):
        """Set a host's way to control up, with the route that the kernel drops when it goes down."""
        route = f"route replace {control_address(subnet)}/32 dev {CONTROL} src {host.address(subnet)}"
        batch("ip", [f"link set {CONTROL} up", route], "-n", self.namespace(host.name))

    def set_up(self, host, interface):
        run("ip", "-n", self.namespace(host), "link", "set", interface, "up")

    def set_down(self, host, interface):
        run("ip", "-n", self.namespace(host), "link", "set", interface, "down")

    def counters(self, host):
        """{interface: {"sent_bytes", "received_bytes", "sent_packets", "received_packets"}} of a host."""
        links = json.loads(run("ip", "-n", self.namespace(host), "-json", "-s", "link", "show"))
        return {link["ifname"]: _counts(link["stats64"]) for link in links if link["ifname"] != "lo"}

    def remove(self):
        """Wires first: a namespace lives on while some process elsewhere still holds its mount."""
        kill_all(self.pids)
        for namespace in self.namespaces():
            for interface in _wires_of(namespace):
                run("ip", "-n", namespace, "link", "del", interface, check=False)
            run("ip", "netns", "delete", namespace)


def _plugging(interface, bridge, isolated):
    """How to connect an interface to a bridge; isolated ones pass nothing on to each other."""
    return [
        f"link set {interface} master {bridge}",
        f"link set {interface} type bridge_slave isolated {isolated}",
        f"link set {interface} up",
    ]


def _shaping(interface, rate):
    return f"qdisc replace dev {interface} root tbf rate {rate} {_SHAPE}"


def _mac(host, subnet):
    return "02:09:" + ":".join(f"{int(part):02x}" for part in host.address(subnet).split("."))


def control_interface(host, subnet):
    """The name at control of the wire to a host."""
    return f"fc{subnet.rpartition('.')[2]}-{host}"


def control_address(subnet):
    return f"{subnet}.{_CONTROL_NUMBER}"


def _counts(stats):
    return {
        "sent_bytes": stats["tx"]["bytes"], "received_bytes": stats["rx"]["bytes"],
        "sent_packets": stats["tx"]["packets"], "received_packets": stats["rx"]["packets"],
    }


def _wires_of(namespace):
    listed = run("ip", "-n", namespace, "-json", "link", "show", "type", "veth", check=False)
    return [link["ifname"] for link in json.loads(listed or "[]") if link]
