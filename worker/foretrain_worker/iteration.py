"""One iteration's line of the record, from the tape of what happened in it."""

import collections

from foretrain_worker import sockets


class Bucket:
    """One gradient bucket's all-reduce. Times are marks of the clock; `done` stays None when it is not known."""

    def __init__(self, index, module, n_bytes, ready):
        self.index = index
        self.module = module
        self.n_bytes = n_bytes
        self.wire_bytes = None
        self.ready = ready
        self.done = None


class Backward:
    """One backward call. Times are marks of the clock."""

    def __init__(self, begin):
        self.begin = begin
        self.end = None
        self.first_operator = None
        self.buckets = []
        self.sent_before = None
        self.sent_after = None

    @property
    def synced(self):
        """Whether gradients were all-reduced in it."""
        return bool(self.buckets)

    def bytes_sent(self):
        return sockets.sent_between(self.sent_before, self.sent_after)


class Iteration:
    """What one iteration was, until its marks can be read."""

    def __init__(self, number, tape, end, loader, facts):
        self.number = number
        self.tape = tape
        self.end = end
        self.loader = loader
        self.facts = facts

    def line(self, clock, origin):
        """The `iteration` line. `origin` is the host time that t counts from, in seconds."""
        begin = self.tape.stages[0][1]
        step_s = clock.seconds(begin, self.end)
        stage_s = self.tape.seconds_by_stage(clock, self.end)
        unsynced_s = stage_s.get("unsynced", 0.0)
        backward_s = stage_s.get("backward", 0.0) + unsynced_s
        named_s = [stage_s.get(stage, 0.0) for stage in ("wait", "copy", "forward", "optimizer")]
        line = {
            "kind": "iteration",
            "i": self.number,
            "t": _round(clock.host(begin) - origin),
            "step_s": _round(step_s),
            "wait_s": _round(named_s[0]),
            "copy_s": _round(named_s[1]),
            "forward_s": _round(named_s[2]),
            "backward_s": _round(backward_s),
            "backward_unsynced_s": _round(unsynced_s),
            "optimizer_s": _round(named_s[3]),
            "rest_s": _round(step_s - sum(named_s) - backward_s),
        }
        line.update(self._backward(clock))
        line.update(self._batches())
        line["edge"] = bool(self.tape.named("edge"))
        line["collectives"] = [each.line() for each in self.tape.named("collective")]
        line.update(self.facts)
        return line

    def is_ready(self, clock):
        return clock.is_ready(self.end)

    def _backward(self, clock):
        """The synchronised backward calls, put one after the other where there are several."""
        buckets, first_s, compute_s, before_s = [], None, None, 0.0
        for call in self.tape.named("backward"):
            if not call.synced:
                continue
            if first_s is None and call.first_operator is not None:
                first_s = clock.seconds(call.begin, call.first_operator)
            for bucket in call.buckets:
                ready_s = before_s + clock.seconds(call.begin, bucket.ready)
                done_s = None if bucket.done is None else before_s + clock.seconds(call.begin, bucket.done)
                compute_s = ready_s
                buckets.append(_bucket_line(bucket, ready_s, done_s))
            before_s += clock.seconds(call.begin, call.end)
        return {
            "first_backward_s": _round(first_s),
            "backward_compute_s": _round(compute_s),
            "buckets": buckets,
        }

    def _batches(self):
        """Mini-batches and samples of the training loader.

        A mini-batch is what a module's forward takes: fewer than the loader's where the script puts those together,
        fewer than the forwards where one goes through a module several times, or through several modules.
        """
        batches = [samples for loader, samples in self.tape.named("batch") if loader == self.loader]
        forwards = collections.Counter(self.tape.named("forward")).values()
        micro_batches = min([len(batches)] * bool(batches) + list(forwards), default=1)
        known = batches and len(batches) == micro_batches and None not in batches
        return {"micro_batches": micro_batches, "samples": sum(batches) if known else None}


class Collective:
    """A collective that is not a gradient bucket's. `span_s` is None when the call does not wait for its end."""

    def __init__(self, op, n_bytes, place, span_s):
        self.op = op
        self.n_bytes = n_bytes
        self.place = place
        self.span_s = span_s

    def line(self):
        return {"op": self.op, "bytes": self.n_bytes, "place": self.place, "span_s": _round(self.span_s)}


def _bucket_line(bucket, ready_s, done_s):
    return {
        "index": bucket.index,
        "module": bucket.module,
        "bytes": bucket.n_bytes,
        "wire_bytes": bucket.wire_bytes,
        "ready_s": _round(ready_s),
        "done_s": _round(done_s),
    }


def _round(seconds):
    """To the nanosecond, which is finer than any clock here."""
    return None if seconds is None else round(seconds, 9)
