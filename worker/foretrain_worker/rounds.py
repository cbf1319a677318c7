"""What a round of an all-reduce takes whatever its bytes: small ones, one after the other, idle and beside computing.

A sub-system of two goes around its ring in two rounds and a ring of N in 2(N-1): only small messages tell what a round
costs from what its bytes do (docs/model.md, "What a round costs").
"""

import datetime
import threading

from foretrain_worker.clock import now

_MESSAGE_BYTES = 4096
_N_ROUNDS = 96  # counted, of all all-reduces together
_UNCOUNTED = 2
_MATRIX_SIZE = 192


def measure(group, timeout_s):
    """The record's `rounds` line, of a process group of at least two ranks on CPUs; all of them call it.

    Raises RuntimeError where a rank is gone or late by timeout_s.
    """
    return {
        "kind": "rounds",
        "message_bytes": _MESSAGE_BYTES,
        "idle_s": _rounds(group, timeout_s),
        "busy_s": _beside_computing(lambda: _rounds(group, timeout_s)),
    }


def _rounds(group, timeout_s):
    """Seconds of a round, for each of some all-reduces; the first ones do not count."""
    import torch

    n_rounds = 2 * (group.size() - 1)
    tensor = torch.zeros(group.size() * _MESSAGE_BYTES // 4, dtype=torch.float32)
    n_counted = max(1, _N_ROUNDS // n_rounds)
    times_s = [_all_reduce(group, tensor, timeout_s) for _ in range(_UNCOUNTED + n_counted)]
    return [time_s / n_rounds for time_s in times_s[_UNCOUNTED:]]


def _all_reduce(group, tensor, timeout_s):
    begin_s = now()
    group.allreduce([tensor]).wait(datetime.timedelta(seconds=timeout_s))
    return now() - begin_s


def _beside_computing(measured):
    """What `measured` returns, called in a thread of its own while this one computes as a training does."""
    import torch

    outcome = {}

    def call():
        try:
            outcome["result"] = measured()
        except Exception as error:  # pylint: disable=broad-except
            outcome["error"] = error

    thread = threading.Thread(target=call, daemon=True)
    matrix = torch.ones(_MATRIX_SIZE, _MATRIX_SIZE)
    thread.start()
    while thread.is_alive():
        torch.mm(matrix, matrix)
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]
