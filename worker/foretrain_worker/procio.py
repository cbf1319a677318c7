"""Bytes read by this process and its loader workers, from /proc/PID/io."""

_FIELDS = (b"read_bytes:", b"rchar:")


def read_counts(pid="self"):
    """(bytes read from storage, bytes of read calls) of one process and its reaped children, or None."""
    try:
        with open("/proc/%s/io" % pid, "rb") as file:
            values = dict(line.split() for line in file)
        return tuple(int(values[field]) for field in _FIELDS)
    except (OSError, ValueError, KeyError):
        return None


def total_counts(worker_pids):
    """The sum over this process, the children that it has reaped, and the workers that live."""
    own = read_counts()
    if own is None:
        return None
    counts = [own] + [count for count in map(read_counts, worker_pids) if count is not None]
    return tuple(map(sum, zip(*counts)))
