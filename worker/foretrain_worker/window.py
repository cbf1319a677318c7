"""The counted window: what is read at its begin and at its end, and the lines of the record that come of it."""

import os

from foretrain_worker import procio, sockets


class Window:
    """`n_iterations` iterations, over which loaders, storage and the network interface are counted."""

    def __init__(self, n_iterations, loaders):
        self._n_iterations = n_iterations
        self._loaders = loaders
        self._interface = None
        self._begin = None
        self._end = None

    def find_interface(self, socket_counter):
        self._interface = sockets.interface_of(socket_counter.local_addresses(), os.environ)

    @property
    def is_open(self):
        return self._begin is not None

    @property
    def is_closed(self):
        return self._end is not None

    def open(self, host_s):
        self._begin = self._read(host_s)

    def close(self, host_s):
        self._end = self._read(host_s)

    def length_s(self):
        return self._end[0] - self._begin[0]

    def _read(self, host_s):
        """(host time, (bytes read from storage, bytes of read calls), (interface's sent, received bytes))."""
        pids = [pid for info in self._loaders.values() for pid in info.worker_pids()]
        counters = sockets.interface_counters(self._interface) if self._interface else None
        return host_s, procio.total_counts(pids), counters

    def loader_line(self, loader, own_fetches):
        """The `loader` line of the training's loader, or None without one."""
        info = self._loaders.get(loader)
        return info and info.line(own_fetches, self._begin[0], self._end[0])

    def io_line(self):
        if not self._begin[1] or not self._end[1]:
            return None
        read, chars = (after - before for before, after in zip(self._begin[1], self._end[1]))
        return {"kind": "io", "read_bytes": read, "read_chars": chars, "n_iterations": self._n_iterations}

    def network_line(self, transport_is_seen):
        line = {"kind": "network", "basis": "tcp_info" if transport_is_seen else "computed"}
        if self._begin[2] and self._end[2]:
            sent, received = (after - before for before, after in zip(self._begin[2], self._end[2]))
            line.update(interface=self._interface, interface_sent_bytes=sent, interface_received_bytes=received)
        line["n_iterations"] = self._n_iterations
        return line

    def notes(self, transport_is_seen):
        """What the reader must know of these counts."""
        if not transport_is_seen:
            yield "the collectives' transport is not TCP: bytes sent are not measured"
        if self._interface == "lo":
            yield "the interface's counters are lo's: they count all ranks of this host, each byte sent and received"
