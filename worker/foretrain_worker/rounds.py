"""What a round of an all-reduce costs besides its bytes, and what messages cost a device that computes.

A sub-system of two goes around its ring in two rounds and a ring of N in 2(N-1): only small messages tell what a round
costs from what its bytes do (docs/model.md, "What a round costs").
"""

import datetime
import os
import threading
import time

from foretrain_worker.clock import now

_SMALL_BYTES, _LARGE_BYTES = 4096, 1 << 20
_FEWEST, _LONGEST_S = 3, 1.5
_SHARE_OF_WINDOW = 0.1
_MATRIX_SIZE = 192


class Activity:
    """For how much of its backward passes' computing the training thread ran on a processor or waited for one.

    The rest it slept: it waited for a device, or for storage. Linux tells both of each thread (schedstat), in nanoseconds.
    """

    def __init__(self):
        self._schedstat = None
        self._begin = self._end = None
        self._busy_s = self._wall_s = 0.0

    def _look(self):
        if self._schedstat is None:
            try:
                self._schedstat = os.open("/proc/self/task/%d/schedstat" % threading.get_native_id(), os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                self._schedstat = -1
        if self._schedstat < 0:
            return 0.0, 0.0
        ran_ns, waited_ns, _ = os.pread(self._schedstat, 100, 0).split()
        return (int(ran_ns) + int(waited_ns)) / 1e9, now()

    def begin(self):
        self._begin = self._end = self._look()

    def until(self):
        """Computing goes on until here, at least."""
        self._end = self._look()

    def end(self):
        self._busy_s += self._end[0] - self._begin[0]
        self._wall_s += self._end[1] - self._begin[1]

    def share(self):
        """None where it did not compute, or where that is not told."""
        return min(1.0, self._busy_s / self._wall_s) if self._wall_s > 0 else None

    def forget(self):
        """Counts anew."""
        self._busy_s = self._wall_s = 0.0


def measure(group, window_s, timeout_s, share):
    """The record's `rounds` line, of a process group of at least two ranks on CPUs; all of them call it.

    Times are means of a round, in seconds; `lost_s` of them are lost to computing. What is measured beside a thread that
    computes all the time is taken for training that does so for a share of its time (it waits for a device, or for
    storage): `share` is an Activity's, None counts as all. Takes 0.4 of window_s, 6 s at the most; more where
    links are so slow. Raises RuntimeError where a rank is gone or late by timeout_s.
    """
    length_s = min(_LONGEST_S, _SHARE_OF_WINDOW * window_s)
    small, large = (Rounds(group, message_bytes, length_s, timeout_s) for message_bytes in (_SMALL_BYTES, _LARGE_BYTES))
    idle_s = small.mean_s()
    share = 1.0 if share is None else share
    alone_per_s = _computing_per_s(lambda: time.sleep(length_s))[0]
    busy_per_s, busy_s = _computing_per_s(small.mean_s)
    large_per_s, large_s = _computing_per_s(large.mean_s)
    return {
        "kind": "rounds",
        "message_bytes": _SMALL_BYTES,
        "idle_s": idle_s,
        "computing_share": share,
        "busy_s": idle_s + share * max(0.0, busy_s - idle_s),
        "lost_s": share * busy_s * _lost(busy_per_s, alone_per_s),
        "large_message_bytes": _LARGE_BYTES,
        "large_lost_s": share * large_s * _lost(large_per_s, alone_per_s),
    }


def _lost(per_s, alone_per_s):
    return max(0.0, 1 - per_s / alone_per_s)


class Rounds:
    """All-reduces of so many bytes a message, one after the other."""

    def __init__(self, group, message_bytes, length_s, timeout_s):
        import torch

        self._group = group
        self._length_s = length_s
        self._timeout = datetime.timedelta(seconds=timeout_s)
        self._tensor = torch.zeros(group.size() * message_bytes // 4, dtype=torch.float32, device="cpu")

    def mean_s(self):
        """Seconds of a round, the first all-reduce not counted. Goes on until one rank has had enough: its first element tells."""
        self._all_reduce(False)
        begin_s, n = now(), 0
        has_enough = False
        while not has_enough:
            n += 1
            has_enough = self._all_reduce(n >= _FEWEST and now() - begin_s > self._length_s)
        return (now() - begin_s) / n / (2 * (self._group.size() - 1))

    def _all_reduce(self, has_enough):
        self._tensor[0] = float(has_enough)
        self._group.allreduce([self._tensor]).wait(self._timeout)
        return bool(self._tensor[0] > 0)


def _computing_per_s(measured):
    """How many products of matrices a second this thread makes while another calls `measured`, and what that returns."""
    import torch

    outcome = {}

    def call():
        try:
            outcome["result"] = measured()
        except Exception as error:  # pylint: disable=broad-except
            outcome["error"] = error

    thread = threading.Thread(target=call, daemon=True)
    matrix = torch.ones(_MATRIX_SIZE, _MATRIX_SIZE, device="cpu")
    begin_s, n = now(), 0
    thread.start()
    while n == 0 or thread.is_alive():
        torch.mm(matrix, matrix)
        n += 1
    if "error" in outcome:
        raise outcome["error"]
    return n / (now() - begin_s), outcome["result"]
