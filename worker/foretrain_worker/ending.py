"""The end of a measured training: together and clean when the window is complete, with the reason when it never was."""

import atexit
import datetime
import glob
import multiprocessing
import os
import sys
import threading
import time
import traceback

from foretrain_worker import install

_GRACE_S = 5.0
_POLL_S = 0.02
_LINE_LENGTH = 300


class WindowComplete(SystemExit):
    """Raised inside the script to end it, with status 0: its `finally` blocks run, `except Exception` does not see it."""

    def __init__(self):
        super().__init__(0)


class _Exit:
    """How the script is about to end, as far as it is known."""

    failure = None
    is_handled = False


def watch_failures(watch):
    """Remember an uncaught exception or a status other than 0, which stay the process's own end.

    A child of multiprocessing reports its exception itself, past sys.excepthook.
    """
    report, leave, run = sys.excepthook, sys.exit, multiprocessing.Process.run

    def remember_then_report(kind, value, trace):
        _Exit.failure = _failure_of(value)
        report(kind, value, trace)

    def remember_then_exit(status=None):
        if status not in (None, 0) and watch.in_rank_process():
            _Exit.failure = _failure_of(sys.exc_info()[1]) or "the script exited with status %s" % (status,)
        leave(status)

    def run_and_remember(process):
        try:
            run(process)
        except Exception as error:
            _Exit.failure = _failure_of(error)
            raise

    sys.excepthook = remember_then_report
    sys.exit = remember_then_exit
    multiprocessing.process.BaseProcess.run = run_and_remember


def _failure_of(exception):
    """The exception in one line, or None where there is none."""
    if exception is None or isinstance(exception, SystemExit):
        return None
    line = traceback.format_exception_only(type(exception), exception)[-1].splitlines()[0]
    return "the script failed: " + (line if len(line) <= _LINE_LENGTH else line[:_LINE_LENGTH] + "...")


def watch_exit_of_root():
    """In the process that the launcher started: our exit handler is the first registered, so the last to run."""
    atexit.register(_at_exit)


def watch_exit_of_child(watch):
    """In a rank that the script started itself: multiprocessing's children run no atexit handlers."""
    if not install.is_root():
        from multiprocessing import util

        util.Finalize(watch, _at_exit, exitpriority=-1000)


def _at_exit():
    from foretrain_worker import watch as watches

    watch = watches.current
    is_ours = install.is_root() if watch is None else watch.in_rank_process()
    if _Exit.is_handled or not is_ours:
        return
    _Exit.is_handled = True
    if watch is None:
        _report_without_torch(watches)
    elif watch.is_complete or watch.script_ended():
        leave_now(0)
    elif watch.rank is not None or not _has_records(watch.spec.record_dir):
        watch.fail(_reason(watch))
        if _Exit.failure is None:
            leave_now(watches.REFUSED_STATUS)


def _report_without_torch(watches):
    from foretrain_worker import record

    spec = record.load_spec()
    if not _has_records(spec.record_dir):
        watches.Watch(spec).fail("the script ended: it never imported torch")


def _has_records(record_dir):
    """Whether the rank of this process, or those that it spawned, have written records."""
    name = "rank%s.jsonl*" % os.environ.get("RANK", "*")
    return bool(glob.glob(os.path.join(glob.escape(record_dir), name)))


def _reason(watch):
    """Why the window was not complete, in the user's words."""
    spec = watch.spec
    ended = _Exit.failure or "the script ended"
    if watch.rank is None:
        return ended + "; it never initialised torch.distributed"
    if not watch.record.is_open:
        return ended + "; no DistributedDataParallel was used"
    if watch.count == 0:
        return ended + "; the DistributedDataParallel module never ran a forward in training mode"
    if not watch.known_optimizers:
        return ended + "; no optimizer step was seen"
    return "%s; %d iterations were done, the window needs %d (%d to %d are counted)" % (
        ended, watch.n_iterations_ended(), spec.last, spec.first, spec.last
    )


def store_of_training():
    """The store that the script's process group was made with: all ranks know it, whatever made it."""
    from torch.distributed import distributed_c10d

    return distributed_c10d._get_default_store()  # pylint: disable=protected-access


def meet(watch):
    """Wait until all ranks have come to their end; rank 0, whose process may hold the store, leaves last.

    Then the place where sub-systems meet is left. Both are bounded by end_timeout_s.
    """
    timeout_s, rank, world_size = watch.spec.end_timeout_s, watch.rank, watch.world_size
    try:
        store = store_of_training()
        store.set("foretrain/end/%d" % rank, "1")
        keys = ["foretrain/end/%d" % each for each in range(world_size)]
        store.wait(keys, datetime.timedelta(seconds=timeout_s))
        n_left = store.add("foretrain/left", 1)
        deadline_s = time.monotonic() + timeout_s
        while rank == 0 and n_left < world_size and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)
            n_left = store.add("foretrain/left", 0)
    except RuntimeError as error:
        watch.record.note("the ranks did not meet at the end: %s" % str(error).splitlines()[0])
    watch.gate.leave(timeout_s)


def leave_soon():
    """End the process even when the script swallows WindowComplete, after a moment for its own clean-up."""
    timer = threading.Timer(_GRACE_S, leave_now, [0])
    timer.daemon = True
    timer.start()


def leave_now(status):
    """End this process without the interpreter's teardown, and its loader workers with it."""
    for child in multiprocessing.active_children():
        child.kill()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(status)
