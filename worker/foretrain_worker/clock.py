"""Clocks that mark a moment of the training: the CPU's, or the device's own by events on its stream.

Every mark holds the host's time too (seconds of CLOCK_MONOTONIC, which all processes of a host share).
"""

import time

now = time.perf_counter


class CpuClock:
    """Marks are floats, in seconds; they are known at once."""

    name = "cpu"

    def mark(self):
        return now()

    def host(self, mark):
        return mark

    def seconds(self, begin, end):
        return end - begin

    def is_ready(self, _mark):
        return True


class DeviceClock:
    """Marks are events on the device's current stream, read later, when the device has passed them.

    `device_module` is torch.cuda, torch.npu, torch.mlu or torch.xpu, or what has the same Event: created with
    enable_timing, with record(), query(), synchronize() and elapsed_time() in milliseconds. Nothing waits here
    but seconds(), for a moment already in the past of the training.
    """

    name = "device"

    def __init__(self, device_module):
        self._event = device_module.Event

    def mark(self):
        event = self._event(enable_timing=True)
        event.record()
        return (now(), event)

    def host(self, mark):
        return mark[0]

    def seconds(self, begin, end):
        end[1].synchronize()
        return begin[1].elapsed_time(end[1]) / 1e3

    def is_ready(self, mark):
        return mark[1].query()


def clock_of(torch, device_type):
    """The clock for tensors of `device_type` ("cpu", "cuda", "npu", ...), and a note where it is a makeshift."""
    if device_type == "cpu":
        return CpuClock(), None
    module = getattr(torch, device_type, None)
    if module is None or not hasattr(module, "Event"):
        return CpuClock(), "torch.%s has no events: stages were timed on the CPU's clock" % device_type
    return DeviceClock(module), None
