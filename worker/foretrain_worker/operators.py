"""Forward and backward operators, one by one, from torch.profiler's events of a few iterations after the window."""

import math

_MARK = "foretrain::mark/"
_EVALUATE = "autograd::engine::evaluate_function: "


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
        activities = {profiler.ProfilerActivity.CPU}
        if clock_name != "cpu":
            activities = profiler.supported_activities()
        self._profiler = profiler.profile(activities=activities)
        self._profiler.start()

    def mark(self, stage):
        """The stage, or "iteration", that begins here."""
        with self._record_function(_MARK + stage):
            pass

    def finish(self, record):
        """Stop, and return the `operators` line, or None with a note."""
        try:
            self._profiler.stop()
            return operators_line(split_iterations(self._profiler.events()))
        except Exception as error:  # pylint: disable=broad-except
            record.note("no operators: torch.profiler failed: %s" % error)
            return None


def split_iterations(events):
    """[(forward operators, backward operators)] of each iteration; an operator is (name, seconds).

    Only the outermost operators count. Forward ones are those of the thread that marks; backward ones may run
    in autograd's thread of a device.
    """
    iterations, stage, training_thread = [], None, None
    covered_until_us = {}
    for event in sorted(events, key=lambda each: (each.time_range.start, -each.time_range.end)):
        if event.name.startswith(_MARK):
            stage, training_thread = event.name[len(_MARK):], event.thread
            if stage == "iteration":
                iterations.append(([], []))
        elif iterations and event.time_range.start >= covered_until_us.get(event.thread, 0):
            if _add_operator(event, stage, training_thread, *iterations[-1]):
                covered_until_us[event.thread] = event.time_range.end
    return iterations


def _add_operator(event, stage, training_thread, forward, backward):
    """Append the event where it belongs. Returns whether it is an operator, not a mark of the user's around some."""
    if stage == "forward" and event.thread == training_thread and "::" in event.name:
        forward.append((event.name, _seconds(event)))
    elif stage in ("backward", "unsynced") and event.name.startswith(_EVALUATE):
        backward.append((event.name[len(_EVALUATE):], _seconds(event)))
    else:
        return False
    return True


def _seconds(event):
    """The device's time where the operator ran there, else the CPU's."""
    for attribute in ("device_time_total", "cuda_time_total"):
        device_us = getattr(event, attribute, 0)
        if device_us:
            return device_us / 1e6
    return event.cpu_time_total / 1e6


def operators_line(iterations):
    return {
        "kind": "operators",
        "n_iterations": len(iterations),
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
        {"index": index, "name": name, "count": len(values), "mean_s": _mean(values), "sd_s": _deviation(values)}
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
