"""Patches torch.utils.data: when a loader starts, when next() blocks, and how long each fetch of a batch takes.

A fetch (getting the samples and collating them) runs inside next() or in a loader worker's process. Workers append
their fetches to a side file of the record's folder, which the rank reads and deletes at the end; CLOCK_MONOTONIC is
the same in all processes of a host.
"""

import collections
import contextlib
import functools
import glob
import itertools
import os
import struct
import threading
import weakref

from foretrain_worker import clock
from foretrain_worker.describe import tensors_in

_FETCH = struct.Struct("=ddq")
_UNKNOWN = -1

_side_file = None
_fetching = threading.local()


class LoaderInfo:
    """One DataLoader of the script, and the iterators made of it."""

    def __init__(self, number, loader, record_dir):
        self.number = number
        self.n_workers = loader.num_workers
        self.batch_size = loader.batch_size
        self.is_fresh = True
        self.side_prefix = os.path.join(record_dir, ".fetches-%d-%d-" % (os.getpid(), number))
        self._iterators = weakref.WeakSet()

    def add_iterator(self, iterator):
        self._iterators.add(iterator)

    def worker_pids(self):
        return [worker.pid for iterator in self._iterators for worker in getattr(iterator, "_workers", [])]

    def line(self, own_fetches, begin_s, end_s):
        """The `loader` line: the fetches that began in the window [begin_s, end_s), of whatever process.

        A worker's first fetch, with which it comes to life, is at the edge of a pass: left out if there are others.
        """
        fetches = [fetch[1:] for fetch in own_fetches if fetch[0] == self.number]
        first_ones = []
        for path in self._side_paths():
            with open(path, "rb") as file:
                data = file.read()
            held = list(_FETCH.iter_unpack(data[: len(data) - len(data) % _FETCH.size]))
            first_ones.extend(held[:1])
            fetches.extend(held[1:])
        inside = _inside(fetches, begin_s, end_s) or _inside(first_ones, begin_s, end_s)
        samples = [fetch[2] for fetch in inside]
        return {
            "kind": "loader",
            "workers": self.n_workers,
            "fetch_s": [round(fetch[1], 9) for fetch in inside],
            "batch_size": self.batch_size,
            "samples_fetched": None if _UNKNOWN in samples else sum(samples),
        }

    def forget_side_files(self):
        for path in self._side_paths():
            os.unlink(path)

    def _side_paths(self):
        return sorted(glob.glob(glob.escape(self.side_prefix) + "*"))


def _inside(fetches, begin_s, end_s):
    return sorted(fetch for fetch in fetches if begin_s <= fetch[0] < end_s)


class WorkerStart:
    """A worker_init_fn that opens the worker's side file, then does what the script's own does."""

    def __init__(self, side_prefix, original):
        self._side_prefix = side_prefix
        self._original = original

    def __call__(self, worker_id):
        global _side_file
        with contextlib.suppress(OSError):
            _side_file = os.open(
                "%s%d" % (self._side_prefix, os.getpid()), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
            )
        if self._original is not None:
            self._original(worker_id)


def apply(watch):
    from torch.utils.data import dataloader
    from torch.utils.data._utils import fetch

    numbers = itertools.count()
    infos = weakref.WeakKeyDictionary()

    def info_of(loader):
        if loader not in infos:
            infos[loader] = LoaderInfo(next(numbers), loader, watch.spec.record_dir)
        return infos[loader]

    _patch_iter(dataloader.DataLoader, watch, info_of)
    _patch_worker_start(dataloader._MultiProcessingDataLoaderIter, watch, info_of)
    _patch_sampling(dataloader._BaseDataLoaderIter, dataloader._DatasetKind.Map)
    _patch_next(dataloader._BaseDataLoaderIter, watch)
    _patch_fetch(fetch._MapDatasetFetcher, watch)
    _patch_fetch(fetch._IterableDatasetFetcher, watch)


def _patch_iter(loader_class, watch, info_of):
    original = loader_class.__iter__

    @functools.wraps(original)
    def start(self):
        if not watch.in_rank_process():
            return original(self)
        info = info_of(self)
        info.is_fresh = True
        watch.loader_started(info)
        iterator = original(self)
        iterator._foretrain_info = info
        info.add_iterator(iterator)
        return iterator

    loader_class.__iter__ = start


def _patch_worker_start(iterator_class, watch, info_of):
    original = iterator_class.__init__

    @functools.wraps(original)
    def build(self, loader):
        own = loader.worker_init_fn
        if watch.in_rank_process():
            loader.worker_init_fn = WorkerStart(info_of(loader).side_prefix, own)
        try:
            original(self, loader)
        finally:
            loader.worker_init_fn = own

    iterator_class.__init__ = build


def _patch_sampling(iterator_class, map_kind):
    """Keep how many samples each batch to come was drawn of, in the order in which batches are delivered.

    Not for an IterableDataset, which is asked for full batches and may give less.
    """
    reset, draw = iterator_class._reset, iterator_class._next_index
    iterator_class._foretrain_drawn = ()

    @functools.wraps(reset)
    def start_again(self, *args, **kwargs):
        self._foretrain_drawn = collections.deque()
        return reset(self, *args, **kwargs)

    @functools.wraps(draw)
    def draw_and_count(self):
        index = draw(self)
        if self._dataset_kind == map_kind and isinstance(index, (list, tuple)):
            self._foretrain_drawn = self._foretrain_drawn or collections.deque()
            self._foretrain_drawn.append(len(index))
        return index

    iterator_class._reset, iterator_class._next_index = start_again, draw_and_count


def _patch_next(iterator_class, watch):
    original = iterator_class.__next__

    @functools.wraps(original)
    def fetch_next(self):
        info = getattr(self, "_foretrain_info", None)
        if info is None or not watch.in_rank_process():
            return original(self)
        token = watch.next_begins() if watch.is_mine() else watch.next_beside(info)
        _fetching.info = info
        try:
            data = original(self)
        except StopIteration:
            if token is not None:
                watch.next_stops(token)
            raise
        finally:
            _fetching.info = None
        n_drawn = self._foretrain_drawn.popleft() if self._foretrain_drawn else None
        if token is not None:
            watch.next_ends(token, info, n_drawn or _samples_in(data, info.batch_size))
        return data

    iterator_class.__next__ = fetch_next


def _samples_in(batch, batch_size):
    """Samples of a batch: the first dimension of its first tensor, else the loader's batch size (None: unknown)."""
    shapes = [tensor.shape for tensor in tensors_in(batch) if tensor.dim()]
    return int(shapes[0][0]) if shapes else batch_size


def _patch_fetch(fetcher_class, watch):
    original = fetcher_class.fetch

    @functools.wraps(original)
    def fetch(self, possibly_batched_index):
        info = getattr(_fetching, "info", None)
        if _side_file is None and info is None:
            return original(self, possibly_batched_index)
        begin_s = clock.now()
        data = original(self, possibly_batched_index)
        duration_s = clock.now() - begin_s
        samples = len(possibly_batched_index) if self.auto_collation else _UNKNOWN
        if _side_file is not None:
            with contextlib.suppress(OSError):
                os.write(_side_file, _FETCH.pack(begin_s, duration_s, samples))
        else:
            watch.fetched(info, begin_s, duration_s, samples)
        return data

    fetcher_class.fetch = fetch
