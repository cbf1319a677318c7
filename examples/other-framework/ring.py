"""A ring of processes over TCP that sums arrays: reduce-scatter, then all-gather."""

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import numpy

MEETING_TIMEOUT_S = 120


def listen(address, port=0):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server((address, port), family=family, backlog=1024)


def connect(address, port):
    """Waits until somebody listens there."""
    end_s = time.monotonic() + MEETING_TIMEOUT_S
    while True:
        try:
            return socket.create_connection((address, port), timeout=MEETING_TIMEOUT_S)
        except ConnectionRefusedError:
            if time.monotonic() > end_s:
                raise
            time.sleep(0.05)


def meet_as_first(size, address, port, place):
    """Rank 0 hears where each rank listens, and tells all."""
    places, guests = {0: place}, []
    with listen(address, port) as server:
        while len(places) < size:
            guests.append(server.accept()[0].makefile("rw"))
            rank, *there = json.loads(guests[-1].readline())
            places[rank] = there
    for guest in guests:
        guest.write(json.dumps([places[rank] for rank in range(size)]) + "\n")
        guest.close()
    return [places[rank] for rank in range(size)]


class Ring:
    """Each rank sends to the one before it, as gloo's ranks do."""

    def __init__(self, rank, size, address, port):
        self.rank, self.size = rank, size
        if size == 1:
            return
        if rank == 0:
            listener = listen(address)
            places = meet_as_first(size, address, port, list(listener.getsockname()[:2]))
        else:
            first = connect(address, port)
            listener = listen(first.getsockname()[0])
            with first, first.makefile("rw") as words:
                words.write(json.dumps([rank, *listener.getsockname()[:2]]) + "\n")
                words.flush()
                places = json.loads(words.readline())
        self._next = connect(*places[(rank - 1) % size])
        self._previous = listener.accept()[0]
        listener.close()
        for end in (self._next, self._previous):
            end.settimeout(None)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sender = ThreadPoolExecutor(1)

    def _receive(self, array):
        view = memoryview(array).cast("B")
        while view:
            n = self._previous.recv_into(view)
            if n == 0:
                raise ConnectionError("the previous rank is gone")
            view = view[n:]

    def _pass_on(self, outgoing, incoming):
        """Sends and receives at the same time: all do so, and no socket holds a whole chunk."""
        sent = self._sender.submit(self._next.sendall, memoryview(outgoing).cast("B"))
        self._receive(incoming)
        sent.result()

    def all_reduce(self, array):
        """Sums a one-dimensional array over all ranks, in place; returns when it was done."""
        chunks = numpy.array_split(array, self.size)
        for step in range(self.size - 1):
            own = chunks[(self.rank + step + 1) % self.size]
            incoming = numpy.empty_like(own)
            self._pass_on(chunks[(self.rank + step) % self.size], incoming)
            own += incoming
        for step in range(self.size - 1):
            self._pass_on(chunks[(self.rank + step - 1) % self.size], chunks[(self.rank + step) % self.size])
        return time.perf_counter()
