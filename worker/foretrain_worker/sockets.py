"""Bytes that this process really sent: the kernel's count of its own TCP sockets, and the interface's counters.

The count is struct tcp_info of linux/tcp.h, read by getsockopt(IPPROTO_TCP, TCP_INFO). Payload that the
process has sent so far = tcpi_bytes_sent - tcpi_bytes_retrans + tcpi_notsent_bytes: what left for the first
time, and what waits in the kernel. Kernels before 4.19 do not have these fields; then nothing is measured.
"""

import ctypes
import fcntl
import os
import socket
import struct

# tcpi_state at 0, tcpi_notsent_bytes at 144, tcpi_bytes_sent at 200, tcpi_bytes_retrans at 208.
_TCP_INFO = struct.Struct("=B143xI52xQQ")
_TCP_LISTEN = 10
_BUFFER_LENGTH = 256
_SIOCGIFADDR = 0x8915
_SYS_NET = "/sys/class/net"

_getsockopt = ctypes.CDLL(None).getsockopt


class TcpInfo:
    """Reads tcp_info into one buffer, again and again: this runs for every socket in every backward call."""

    def __init__(self):
        self._buffer = ctypes.create_string_buffer(_BUFFER_LENGTH)
        self._length = ctypes.c_uint32()
        self._arguments = (socket.IPPROTO_TCP, socket.TCP_INFO, self._buffer, ctypes.byref(self._length))

    def payload_sent(self, descriptor):
        """Payload bytes sent so far through a connected TCP socket; None for others and where the kernel does not tell."""
        self._length.value = _BUFFER_LENGTH
        if _getsockopt(descriptor, *self._arguments) != 0 or self._length.value < _TCP_INFO.size:
            return None
        state, not_sent, sent, retransmitted = _TCP_INFO.unpack_from(self._buffer)
        return None if state == _TCP_LISTEN else sent - retransmitted + not_sent


class SocketCounter:
    """Sums the payload sent through the TCP sockets that this process holds."""

    def __init__(self):
        self._descriptors = {}
        self._payload_sent = TcpInfo().payload_sent

    def refresh(self):
        """Look for the sockets anew: {descriptor: identity of the socket}."""
        found = {}
        for name in os.listdir("/proc/self/fd"):
            try:
                identity = os.readlink("/proc/self/fd/" + name)
            except OSError:
                continue
            if identity.startswith("socket:") and self._payload_sent(int(name)) is not None:
                found[int(name)] = identity
        self._descriptors = found

    def snapshot(self):
        """{socket: payload bytes sent so far}; a socket closed meanwhile is left out."""
        counts = {}
        for descriptor, identity in self._descriptors.items():
            sent = self._payload_sent(descriptor)
            if sent is not None:
                counts[descriptor, identity] = sent
        return counts

    def local_addresses(self):
        """The local addresses of these sockets."""
        addresses = set()
        for descriptor in self._descriptors:
            try:
                with socket.socket(fileno=os.dup(descriptor)) as copy:
                    addresses.add(copy.getsockname()[0])
            except OSError:
                continue
        return addresses


def sent_between(before, after):
    """Payload bytes sent between two snapshots. A socket that is new in `after` counts from 0."""
    return sum(sent - before.get(key, 0) for key, sent in after.items())


def interface_of(addresses, environment):
    """The interface that carries the collectives: the one named for gloo or NCCL, else the one with an address of ours."""
    interfaces = [name for _, name in socket.if_nameindex()]
    for variable in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
        named = environment.get(variable, "").lstrip("=").split(",")[0]
        if named in interfaces:
            return named
    plain = {address.replace("::ffff:", "") for address in addresses}
    holding = [name for name in interfaces if _ipv4_address(name) in plain]
    real = [name for name in holding if name != "lo"]
    if real:
        return sorted(real)[0]
    if holding or any(address.startswith("127.") or address == "::1" for address in plain):
        return "lo"
    return None


def _ipv4_address(interface):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            reply = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", interface.encode()[:15]))
        except OSError:
            return None
    return socket.inet_ntoa(reply[20:24])


def interface_counters(interface):
    """(sent bytes, received bytes) of an interface since it is up, or None."""
    try:
        return tuple(
            int(_read(os.path.join(_SYS_NET, interface, "statistics", name))) for name in ("tx_bytes", "rx_bytes")
        )
    except (OSError, ValueError):
        return None


def _read(path):
    with open(path, encoding="ascii") as file:
        return file.read()
