"""When recording starts: after first-1 iterations of one's own, or when all sub-systems have done theirs."""

import datetime
import time

_READY = "ready"
_STARTED = "started"
_PROGRESS = "progress"
_TIMEOUT_S = 600.0
_POLL_S = 0.02


class Alone:
    """Iterations are simply counted."""

    def label_after(self, count):
        """The number of the iteration that follows `count` iterations."""
        return count + 1

    def is_counted(self, _label):
        return True

    def leave(self, _timeout_s):
        pass


class Gate:
    """Sub-systems that start as one and record only when every rank of all has done first-1 iterations.

    Every rank adds itself to a count at the meeting place when it has. Rank 0 of a sub-system that finds all there
    at the end of its iteration k publishes k+2 to its own sub-system as the first recorded one: gradients are
    all-reduced in every iteration, so none of its ranks can be past k+1, and all have read it when k+1 ends.
    Until then iterations carry the number first-1. Training goes on meanwhile, but not for ever: when no rank
    anywhere has moved for `timeout_s` (a key of `together`, default 600), TimeoutError.
    """

    def __init__(self, spec, rank, store=None):
        place = spec.together
        self._first = spec.first
        self._rank = rank
        self._n_ranks = place["n_ranks"]
        self._is_server = bool(place.get("server")) and rank == 0
        self._start_key = "start/" + spec.device_type
        self._timeout_s = float(place.get("timeout_s") or _TIMEOUT_S)
        self._store = store or _connect(place["host"], int(place["port"]), self._is_server, self._timeout_s)
        self._is_ready = False
        self._start = None
        self._news = None
        self._news_at_s = time.monotonic()

    def label_after(self, count):
        if self._start is None:
            self._look(count)
        if self._start is None or count + 1 < self._start:
            return min(count + 1, self._first - 1)
        return self._first + count + 1 - self._start

    def is_counted(self, label):
        return label >= self._first

    def _look(self, count):
        if not self._is_ready and count >= self._first - 1:
            self._is_ready = True
            self._store.add(_READY, 1)
        n_ready = self._store.add(_READY, 0)
        if self._rank == 0 and n_ready >= self._n_ranks:
            self._store.add(self._start_key, count + 2)
        self._start = self._store.add(self._start_key, 0) or None
        if self._start is None:
            self._expect_news(n_ready)
        else:
            self._store.add(_STARTED, 1)

    def _expect_news(self, n_ready):
        """Those who are not ready tell that they move; those who wait give up when nothing moves any more."""
        news = (n_ready, self._store.add(_PROGRESS, 0 if self._is_ready else 1))
        now_s = time.monotonic()
        if news != self._news:
            self._news, self._news_at_s = news, now_s
        elif now_s - self._news_at_s > self._timeout_s:
            raise TimeoutError(
                "%d of %d ranks of all sub-systems are ready, and the others have not moved for %g s"
                % (n_ready, self._n_ranks, self._timeout_s)
            )

    def leave(self, timeout_s):
        """The rank that holds the meeting place stays until all others have read from it what they need."""
        deadline_s = time.monotonic() + timeout_s
        while self._is_server and self._store.add(_STARTED, 0) < self._n_ranks and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)


def _connect(host, port, is_server, timeout_s):
    from torch.distributed import TCPStore

    options = {"is_master": is_server, "wait_for_workers": False, "timeout": datetime.timedelta(seconds=timeout_s)}
    try:
        return TCPStore(host, port, use_libuv=False, **options)
    except TypeError:
        return TCPStore(host, port, **options)
