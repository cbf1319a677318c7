"""What a round of an all-reduce costs besides its bytes, and what messages cost a device that computes.

A sub-system of two goes around its ring in two rounds and a ring of N in 2(N-1): only small messages tell what a round
costs from what its bytes do, and only large ones that nothing computes beside what bytes cost then (docs/model.md,
"What a round costs" and "The ceilings").
"""

import collections
import datetime
import math
import os
import resource
import threading
import time

from foretrain_worker.clock import now

_SMALL_BYTES, _LARGE_BYTES = 4096, 1 << 20
_LONGEST_S, _SHARE_OF_WINDOW = 6.0, 0.4
_SLICE_S = 0.25
_MATRIX_SIZE = 192


class Duty(collections.namedtuple("Duty", "computes_s sleeps_s")):
    """How training computes: processor time until it sleeps, and for how long then. Means, in seconds."""


ALWAYS = Duty(1.0, 0.0)


class Activity:
    """What the training thread does in its backward passes' computing: it runs on a processor, waits for one, or sleeps.

    It sleeps while it waits for a device, or for storage. Linux tells each thread's time and number of sleeps (schedstat, getrusage).
    """

    def __init__(self):
        self._schedstat = None
        self._begin = self._end = None
        self.forget()

    def _look(self):
        """Seconds run, seconds run or waited for a processor, sleeps, and now."""
        if self._schedstat is None:
            try:
                self._schedstat = os.open("/proc/self/task/%d/schedstat" % threading.get_native_id(), os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                self._schedstat = -1
        if self._schedstat < 0:
            return 0.0, 0.0, 0, 0.0
        ran_ns, waited_ns, _ = map(int, os.pread(self._schedstat, 100, 0).split())
        return ran_ns / 1e9, (ran_ns + waited_ns) / 1e9, resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw, now()

    def begin(self):
        self._begin = self._end = self._look()

    def until(self):
        """Computing goes on until here, at least."""
        self._end = self._look()

    def end(self):
        self._sums = [total + end - begin for total, begin, end in zip(self._sums, self._begin, self._end)]

    def duty(self):
        """ALWAYS as well where it did not compute, or where that is not told."""
        ran_s, awake_s, n_sleeps, wall_s = self._sums
        return Duty(ran_s / n_sleeps, max(0.0, wall_s - awake_s) / n_sleeps) if n_sleeps else ALWAYS

    def forget(self):
        """Counts anew."""
        self._sums = [0.0, 0.0, 0, 0.0]


def measure(group, window_s, timeout_s, duty):
    """The record's `rounds` line, of a process group of at least two ranks on CPUs; all of them call it.

    Times are means of a round, in seconds; `lost_s` of them are lost to computing. `duty` is an Activity's, and what is measured beside
    computing is so beside a thread that computes and sleeps like it.
    What is compared takes turns, a slice of a quarter of a second each, since processors change their speed from one second to the next.
    Takes 0.4 of window_s, some 6 s at the most; more where links are so slow.
    Raises RuntimeError where a rank is gone or late by timeout_s.
    """
    length_s = min(_LONGEST_S, _SHARE_OF_WINDOW * window_s)
    slice_s = min(_SLICE_S, length_s / 5)
    small, large = (Rounds(group, message_bytes, slice_s, timeout_s) for message_bytes in (_SMALL_BYTES, _LARGE_BYTES))
    idle_small, idle_large, beside_small, beside_large = Mean(), Mean(), Mean(), Mean()
    begin_s, has_enough = now(), False
    while not has_enough:
        idle_small.add(small.run())
        idle_large.add(large.run())
        alone = compute_beside(lambda: time.sleep(slice_s), duty, slice_s)
        for rounds, mean in ((small, beside_small), (large, beside_large)):
            computed = compute_beside(rounds.run, duty, slice_s)
            mean.add(computed.result, computed.lost_s(alone))
        has_enough = small.all_reduce(now() - begin_s > length_s)
    return {
        "kind": "rounds",
        "message_bytes": _SMALL_BYTES,
        "idle_s": idle_small.round_s(),
        "computes_s": duty.computes_s,
        "sleeps_s": duty.sleeps_s,
        "busy_s": max(idle_small.round_s(), beside_small.round_s()),
        "lost_s": beside_small.lost_s(),
        "large_message_bytes": _LARGE_BYTES,
        "large_idle_s": idle_large.round_s(),
        "large_busy_s": max(idle_large.round_s(), beside_large.round_s()),
        "large_lost_s": beside_large.lost_s(),
    }


class Mean:
    """Of a round, over all slices."""

    def __init__(self):
        self._n_rounds, self._span_s, self._n_losing, self._lost_s = 0, 0.0, 0, 0.0

    def add(self, ran, lost_s=0.0):
        self._n_rounds += ran.n_rounds
        self._span_s += ran.span_s
        self._n_losing += ran.n_before + ran.n_rounds
        self._lost_s += lost_s

    def round_s(self):
        return self._span_s / self._n_rounds

    def lost_s(self):
        return max(0.0, self._lost_s / self._n_losing)


Ran = collections.namedtuple("Ran", "n_before n_rounds span_s")  # rounds until all ranks are there, and after that in span_s


class Rounds:
    """All-reduces of so many bytes a message, one after the other."""

    def __init__(self, group, message_bytes, length_s, timeout_s):
        import torch

        self._group = group
        self._length_s = length_s
        self._timeout = datetime.timedelta(seconds=timeout_s)
        self._tensor = torch.zeros(group.size() * message_bytes // 4, dtype=torch.float32, device="cpu")

    def run(self):
        """Goes on until one rank has had enough."""
        self.all_reduce(False)
        begin_s, n = now(), 0
        has_enough = False
        while not has_enough:
            n += 1
            has_enough = self.all_reduce(now() - begin_s > self._length_s)
        n_around = 2 * (self._group.size() - 1)
        return Ran(n_around, n * n_around, now() - begin_s)

    def all_reduce(self, has_enough):
        """Whether any rank has had enough: its first element tells."""
        self._tensor[0] = float(has_enough)
        self._group.allreduce([self._tensor]).wait(self._timeout)
        return bool(self._tensor[0] > 0)


class Computed(collections.namedtuple("Computed", "result n_products awake_s")):
    """How many matrices a thread multiplied while another did something, which returned `result`."""

    def lost_s(self, alone):
        """How much longer products took than alone."""
        return self.awake_s - self.n_products / alone.n_products * alone.awake_s


def compute_beside(measured, duty, longest_sleep_s):
    """Multiplies matrices and sleeps, as long as another thread takes for `measured`. Waking up late is time awake."""
    import torch

    outcome = {}

    def call():
        try:
            outcome["result"] = measured()
        except Exception as error:  # pylint: disable=broad-except
            outcome["error"] = error

    thread = threading.Thread(target=call, daemon=True)
    matrix = torch.ones(_MATRIX_SIZE, _MATRIX_SIZE, device="cpu")
    n_products, slept_s = 0, 0.0
    begin_s, ran_until_s = now(), time.thread_time()
    thread.start()
    while n_products == 0 or thread.is_alive():
        torch.mm(matrix, matrix)
        n_products += 1
        ran_s = time.thread_time() - ran_until_s
        if duty.sleeps_s > 0 and ran_s >= duty.computes_s:
            asleep_s, pieces = now(), ran_s / duty.computes_s if duty.computes_s > 0 else math.inf
            sleep_s = min(longest_sleep_s, pieces * duty.sleeps_s)
            thread.join(sleep_s)
            slept_s += min(sleep_s, now() - asleep_s)
            ran_until_s = time.thread_time()
    if "error" in outcome:
        raise outcome["error"]
    return Computed(outcome["result"], n_products, now() - begin_s - slept_s)
