"""Forward and backward operators, one by one, from torch.profiler's events of a few iterations after the window."""

import collections
import math
import time

_MARK = "foretrain::mark/"
_EVALUATE = "autograd::engine::evaluate_function: "
_HANDLE_GAP_S = 200e-6
_SETTLE_S = 0.25

Event = collections.namedtuple("Event", "name thread start_s end_s seconds")


def start(record, clock_name):
    """Start the profiler. None, with a note, where it cannot (another profiler runs, or it is not built)."""
    try:
        return Profile(clock_name)
    except Exception as error:  # pylint: disable=broad-except
        record.note("no operators: torch.profiler could not be started: %s" % error)
        return None


class Profile:
    """A running profiler. Point marks name the stage that begins, so that its events can be told apart."""

    def __init__(self, clock_name):
        import torch
        from torch import profiler

        self._record_function = torch.autograd.profiler.record_function
        self._on_device = clock_name != "cpu"
        activities = {profiler.ProfilerActivity.CPU}
        if self._on_device:
            activities = profiler.supported_activities()
        self._profiler = profiler.profile(activities=activities)
        self._profiler.start()

    def mark(self, stage):
        """The stage, or "iteration", that begins here."""
        with self._record_function(_MARK + stage):
            pass

    def finish(self, record, profiled):
        """Stop, and return the `operators` line, or None with a note.

        `profiled` is (step_s, whether at an edge) of each profiled iteration. Those at an edge are left out if
        there are others.
        """
        # A thread of gloo ends its event after it has told that the all-reduce is done. Where a busy machine held it up until
        # here, torch 1.13 aborted while it read the events: in 2 of 117 trainings without this wait, in none of 97 with it.
        time.sleep(_SETTLE_S)
        try:
            self._profiler.stop()
            held = list(zip(split_iterations(self._events()), profiled))
            inner = [each for each in held if not each[1][1]]
            return operators_line(inner or held)
        except Exception as error:  # pylint: disable=broad-except
            record.note("no operators: torch.profiler failed: %s" % error)
            return None

    def _events(self):
        """On the CPU the profiler's tree, exact to the nanosecond; else its events with the device's times."""
        results = self._profiler.profiler.kineto_results
        if self._on_device or not hasattr(results, "experimental_event_tree"):
            return [_event_of_function(event) for event in self._profiler.events()]
        return list(_events_of_tree(results.experimental_event_tree()))


def _events_of_tree(nodes):
    """Every event of the tree, parents before their children.

    Times count from the first one: a float that counts from 1970 has a quarter of a microsecond.
    """
    waiting = list(reversed(nodes))
    origin_ns = nodes[0].start_time_ns if nodes else 0
    while waiting:
        node = waiting.pop()
        start_s, end_s = (node.start_time_ns - origin_ns) / 1e9, (node.end_time_ns - origin_ns) / 1e9
        yield Event(node.name, node.start_tid, start_s, end_s, node.duration_time_ns / 1e9)
        waiting.extend(reversed(node.children))


def _event_of_function(event):
    """A FunctionEvent, with the time on the device where it has one."""
    start_s, end_s = event.time_range.start / 1e6, event.time_range.end / 1e6
    for attribute in ("device_time_total", "cuda_time_total"):
        device_us = getattr(event, attribute, 0)
        if device_us:
            return Event(event.name, event.thread, start_s, end_s, device_us / 1e6)
    return Event(event.name, event.thread, start_s, end_s, end_s - start_s)


def split_iterations(events):
    """[(forward operators, backward operators)] of each iteration; an operator is (name, seconds).

    Only the outermost operators count. Forward ones are those of the thread that marks; backward ones may run
    in autograd's thread of a device.
    """
    iterations, stage, training_thread = [], None, None
    covered_until_s = {}
    for event in without_handles(sorted(events, key=lambda each: (each.start_s, -each.end_s))):
        if event.start_s < covered_until_s.get(event.thread, 0.0):
            continue
        if event.name.startswith(_MARK):
            stage, training_thread = event.name[len(_MARK):], event.thread
            covered_until_s[event.thread] = event.end_s
            if stage == "iteration":
                iterations.append(([], []))
        elif iterations and _add_operator(event, stage, training_thread, *iterations[-1]):
            covered_until_s[event.thread] = event.end_s
    return iterations


def without_handles(events):
    """Leave out the tensor that torch 1.13's record_function makes for itself, around the begin of its event.

    It shows as zeros(empty, zero_) right before an event that is not an operator, and as empty right inside it.
    """
    kept = []
    for event in events:
        inside = kept and _is_annotation(kept[-1]) and kept[-1].thread == event.thread
        if inside and event.name == "aten::empty" and event.start_s - kept[-1].start_s < _HANDLE_GAP_S:
            continue
        before = [each.name for each in kept[-3:]]
        if _is_annotation(event) and before == ["aten::zeros", "aten::empty", "aten::zero_"]:
            del kept[-3:]
        kept.append(event)
    return kept


def _is_annotation(event):
    return event.name.startswith(_MARK) or "::" not in event.name


def _add_operator(event, stage, training_thread, forward, backward):
    """Append the event where it belongs. Returns whether it is an operator, not a mark of the user's around some."""
    if stage == "forward" and event.thread == training_thread and "::" in event.name:
        forward.append((event.name, event.seconds))
    elif stage in ("backward", "unsynced") and event.name.startswith(_EVALUATE):
        backward.append((event.name[len(_EVALUATE):], event.seconds))
    else:
        return False
    return True


def operators_line(held):
    """`held` is [((forward operators, backward operators), (step_s, edge))], one for each iteration."""
    iterations = [operators for operators, _ in held]
    return {
        "kind": "operators",
        "n_iterations": len(iterations),
        "step_s": [step_s for _, (step_s, _) in held],
        "forward": _aggregate([forward for forward, _ in iterations]),
        "backward": _aggregate([backward for _, backward in iterations]),
    }


def _aggregate(sequences):
    """Count, mean and standard deviation of each (index, name) over the iterations."""
    samples = {}
    for sequence in sequences:
        for index, (name, seconds) in enumerate(sequence):
            samples.setdefault((index, name), []).append(seconds)
    return [
        {"index": index, "name": name, "count": len(values), "mean_s": _mean(values),
         "sd_s": _deviation(values), "samples_s": values}
        for (index, name), values in sorted(samples.items())
    ]


def _mean(values):
    return math.fsum(values) / len(values)


def _deviation(values):
    """The sample's standard deviation; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    mean = _mean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
