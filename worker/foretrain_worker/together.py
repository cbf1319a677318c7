"""When recording starts and training ends: as one's own iterations are done, or when those of all sub-systems are."""

import contextlib
import datetime
import time

from foretrain_worker import ending

_READY = "ready"
_PROGRESS = "progress"
_COMPLETE = "complete"
_LEFT = "left"
_LAST = "foretrain/last"
_TIMEOUT_S = 600.0
_POLL_S = 0.02
_LOOK_EVERY_S = 0.1
_TELLS_IN_TIMEOUT = 8


class Alone:
    """Iterations are simply counted."""

    def label_after(self, count):
        """The number of the iteration that follows `count` iterations."""
        return count + 1

    def is_counted(self, _label):
        return True

    def tell_complete(self):
        pass

    def is_over(self, _count, _note):
        """Whether training ends after `_count` iterations, all that is to be recorded being recorded."""
        return True

    def leave(self, _timeout_s):
        pass


class Gate:
    """Sub-systems that start as one, record only when every rank of all has done first-1 iterations, and end as one.

    Every rank adds itself to a count at the meeting place when it has. Rank 0 of a sub-system that finds all there
    at the end of its iteration k publishes k+2 to its own sub-system as the first recorded one: gradients are
    all-reduced in every iteration, so none of its ranks can be past k+1, and all have read it when k+1 ends.
    Until then iterations carry the number first-1. Training goes on meanwhile, but not for ever: when no rank
    anywhere has moved for `timeout_s` (a key of `together`, default 600), TimeoutError.

    They end likewise: a rank whose record is complete adds itself to a second count and trains on, unrecorded, so that
    those who still record have no quieter machine. Rank 0 publishes k+2 as the last iteration, by the training's own
    store: where the others do not move any more, or the meeting place is gone, it ends its sub-system all the same.
    """

    def __init__(self, spec, rank, store=None, own_store=None):
        place = spec.together
        self._first = spec.first
        self._rank = rank
        self._n_ranks = place["n_ranks"]
        self._is_server = bool(place.get("server")) and rank == 0
        self._start_key = "start/" + spec.device_type
        self._timeout_s = float(place.get("timeout_s") or _TIMEOUT_S)
        self._store = store or connect(place["host"], int(place["port"]), self._is_server, self._timeout_s)
        self._own_store = own_store or ending.store_of_training()
        self._is_ready = False
        self._start = None
        self._last = None
        self._news = None
        self._news_at_s = time.monotonic()
        self._tell_at_s = 0.0
        self._look_at_s = 0.0

    def label_after(self, count):
        if self._start is None:
            self._look(count)
        else:
            self._tell_progress()
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

    def _expect_news(self, n_ready):
        """Those who are not ready tell that they move; those who wait give up when nothing moves any more."""
        if self._is_silent((n_ready, self._store.add(_PROGRESS, 0 if self._is_ready else 1))):
            raise TimeoutError(
                "%d of %d ranks of all sub-systems are ready, and the others have not moved for %g s"
                % (n_ready, self._n_ranks, self._timeout_s)
            )

    def _is_silent(self, news):
        now_s = time.monotonic()
        if news != self._news:
            self._news, self._news_at_s = news, now_s
        return now_s - self._news_at_s > self._timeout_s

    def _tell_progress(self):
        """For those who are complete; seldom, since it takes a recorded iteration the time of a message."""
        now_s = time.monotonic()
        if self._rank == 0 and now_s >= self._tell_at_s:
            self._tell_at_s = now_s + self._timeout_s / _TELLS_IN_TIMEOUT
            with contextlib.suppress(RuntimeError):
                self._store.add(_PROGRESS, 1)

    def tell_complete(self):
        """This rank has recorded all that it is to record."""
        self._news = None
        with contextlib.suppress(RuntimeError):
            self._store.add(_COMPLETE, 1)

    def is_over(self, count, note):
        """Whether training ends after `count` iterations. `note` is called with what the record's reader must know."""
        try:
            if self._rank == 0 and self._last is None and self._may_end(note):
                self._own_store.add(_LAST, count + 2)
            self._last = self._last or self._own_store.add(_LAST, 0) or None
        except RuntimeError:
            note("the sub-system's rank 0 was gone before it told when to end")
            return True
        return self._last is not None and count >= self._last

    def _may_end(self, note):
        """Whether every rank of all sub-systems is complete, or waiting for that is in vain. Asks ten times a second."""
        now_s = time.monotonic()
        if now_s < self._look_at_s:
            return False
        self._look_at_s = now_s + _LOOK_EVERY_S
        try:
            n_complete, progress = self._store.add(_COMPLETE, 0), self._store.add(_PROGRESS, 0)
        except RuntimeError:
            note("the other sub-systems could not be reached any more: this one did not wait for their end")
            return True
        if n_complete >= self._n_ranks:
            return True
        if not self._is_silent((n_complete, progress)):
            return False
        note(
            "%d of %d ranks of all sub-systems were complete, and the others had not moved for %g s: this one did not "
            "wait for their end" % (n_complete, self._n_ranks, self._timeout_s)
        )
        return True

    def leave(self, timeout_s):
        """The rank that holds the meeting place stays until all others have left it."""
        deadline_s = time.monotonic() + timeout_s
        with contextlib.suppress(RuntimeError):
            n_left = self._store.add(_LEFT, 1)
            while self._is_server and n_left < self._n_ranks and time.monotonic() < deadline_s:
                time.sleep(_POLL_S)
                n_left = self._store.add(_LEFT, 0)


def connect(host, port, is_server, timeout_s):
    """The store where sub-systems meet, without libuv, which not every PyTorch has."""
    from torch.distributed import TCPStore

    options = {"is_master": is_server, "wait_for_workers": False, "timeout": datetime.timedelta(seconds=timeout_s)}
    try:
        return TCPStore(host, port, use_libuv=False, **options)
    except TypeError:
        return TCPStore(host, port, **options)
