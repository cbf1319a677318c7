"""The watch over one rank's training: hears what the patches tell, cuts the training into iterations, writes the record.

An iteration begins with the first next() of a loader after an optimizer step, and is recognised when the first
forward in training mode follows; so accumulation, several optimizers, several DDP modules and evaluation in
between all fall where they belong. Stages are exclusive: a stack says which one the moment belongs to.
"""

import collections
import contextlib
import functools
import os
import socket
import sys
import threading
import traceback
import weakref

from foretrain_worker import clock as clocks
from foretrain_worker import describe, ending, operators, rounds, sockets, together
from foretrain_worker.iteration import Backward, Bucket, Collective, Iteration
from foretrain_worker.record import Record, load_spec
from foretrain_worker.tape import REST, Tape
from foretrain_worker.window import Window

REFUSED_STATUS = 97
_REFRESH_SOCKETS_EVERY = 16
_STEPS_WITHOUT_NEXT = 8
_STEPS_WITHOUT_ANOTHER = 32
_TCP_SHARE = 0.1
_PLACES = {"copy": "forward"}

current = None


def attach():
    """Begin to watch this process: torch has just been imported."""
    global current
    try:
        watch = Watch(load_spec())
    except Exception as error:  # pylint: disable=broad-except
        say("the specification cannot be read: %s" % error)
        ending.leave_now(REFUSED_STATUS)
    current = watch
    try:
        from foretrain_worker import patches_ddp, patches_loader, patches_training

        patches_loader.apply(watch)
        patches_training.apply(watch)
        patches_ddp.apply(watch)
        ending.watch_failures(watch)
    except Exception as error:  # pylint: disable=broad-except
        traceback.print_exc()
        watch.refuse("this torch cannot be watched: %s: %s" % (type(error).__name__, error))


def say(text):
    with contextlib.suppress(OSError, ValueError):
        print("foretrain: " + text, file=sys.stderr, flush=True)


def guarded(method):
    """A failure of the watch itself ends the process with the reason in the record, never in a hang."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        try:
            return method(self, *args, **kwargs)
        except Exception as error:  # pylint: disable=broad-except
            with contextlib.suppress(OSError):
                traceback.print_exc()
            self.refuse("the watcher failed: %s: %s" % (type(error).__name__, error))

    return call


class Watch:
    """The state of one rank. Handlers are called from the patches; those of another thread are ignored."""

    def __init__(self, spec):
        self.spec = spec
        self.record = Record(spec.record_dir)
        self.origin_s = clocks.now()
        self.clock = clocks.CpuClock()
        self.pid = os.getpid()
        self.thread = None
        self.rank = None
        self.world_size = None
        self.tape = Tape()
        self.stack = [REST]
        self.ddp_names = weakref.WeakKeyDictionary()
        self.describer = describe.Describer()
        self.gate = together.Alone()
        self.activity = rounds.Activity()
        self.sockets = sockets.SocketCounter()
        self.transport_is_seen = True
        self.total_sent = 0
        self.total_handed = 0
        self.profile = None
        self.is_recorded = False
        self.is_complete = False

        self.count = 0
        self.label = 0
        self.cut_at_forward = False
        self.first_next = None
        self.first_loader = None
        self.loader = None
        self.loader_beside = None
        self.has_seen_next = False
        self.trained = weakref.WeakSet()
        self.stepped = set()
        self.known_optimizers = set()
        self.steps_since_cut = collections.Counter()
        self.step_depth = 0
        self.step_position = None
        self.steps_before_forward = 0
        self.backward = None
        self.unfinished = None
        self.reducing = set()
        self.hook = None

        self.sent_at_cut = None
        self.pending = collections.deque()
        self.loaders = {}
        self.window = Window(spec.last - spec.first + 1, self.loaders)
        self.fetches = []
        self.profiled = []

    # -- who and where -------------------------------------------------------------------------------

    def is_mine(self):
        """Whether the calling thread trains, in the process that was watched from the start."""
        return threading.get_ident() == self.thread and os.getpid() == self.pid

    def in_rank_process(self):
        return os.getpid() == self.pid

    def refuse(self, text):
        """Say in the record why this training is not measured, and end the process."""
        self.fail(text)
        say(text)
        ending.leave_now(REFUSED_STATUS)

    def fail(self, text):
        """Write the `error` line, creating the record if need be; to stderr where it cannot be written."""
        try:
            if not self.record.is_open:
                rank = self.rank if self.rank is not None else int(os.environ.get("RANK", 0))
                self.record.open(rank, self._header(rank, None))
            self.record.write({"kind": "error", "text": text})
            self._forget_side_files()
        except OSError as error:
            if str(error) not in text:
                text = "%s (the record could not be written: %s)" % (text, error)
            say(text)
            with contextlib.suppress(OSError):
                self.record.write_over({"kind": "error", "text": text})

    def _header(self, rank, device):
        import torch

        return {
            "device_type": self.spec.type_of(rank),
            "rank": rank,
            "world_size": self.world_size,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "device": describe.device_line(torch, device, self.spec.device),
            "backend": describe.backend_name(torch),
            "framework": "torch " + torch.__version__,
            "python": sys.version.split()[0],
            "first": self.spec.first,
            "last": self.spec.last,
            "batch": self.spec.batch_of(rank),
            "clock": self.clock.name,
        }

    @guarded
    def group_joined(self, rank, world_size):
        """torch.distributed was initialised in this process, which may have been forked after torch was imported."""
        if self.rank is None:
            self.pid = os.getpid()
        self.rank = rank
        self.world_size = world_size
        ending.watch_exit_of_child(self)
        if self.spec.n_devices not in (None, world_size):
            self.refuse(
                "the script trains on %d ranks, the sub-system has %d devices" % (world_size, self.spec.n_devices)
            )

    @guarded
    def ddp_built(self, ddp, group_size):
        """A module was wrapped in DDP: the first one opens the record."""
        import torch

        if group_size != self.world_size:
            self.refuse(
                "DistributedDataParallel over a process group of %d of the %d ranks (hybrid parallelism) cannot be watched"
                % (group_size, self.world_size)
            )
        self.ddp_names[ddp] = describe.unique_name(type(ddp.module).__name__, self.ddp_names.values())
        if self.record.is_open:
            return
        device = next(ddp.module.parameters()).device
        self.clock, makeshift = clocks.clock_of(torch, device.type)
        self.record.open(self.rank, self._header(self.rank, device))
        if makeshift:
            self.record.note(makeshift)
        if device.type != self.spec.device:
            self.record.note("the script trains on %s, the job says %s" % (device.type, self.spec.device))
        self.thread = threading.get_ident()
        self.sockets.refresh()
        self.window.find_interface(self.sockets)
        if self.spec.together:
            self.gate = together.Gate(self.spec, self.rank)

    # -- stages --------------------------------------------------------------------------------------

    def enter(self, stage):
        """Begin a stage inside the present one. Returns (depth to leave to, position on the tape)."""
        depth = len(self.stack)
        self.stack.append(stage)
        return depth, self._switch(stage)

    def leave(self, depth):
        """End the stage entered at `depth`, and what was begun inside it. Returns the position on the tape."""
        del self.stack[depth:]
        return self._switch(self.stack[-1])

    def _switch(self, stage):
        if self.profile is not None:
            self.profile.mark(stage)
        return self.tape.switch(stage, self.clock.mark())

    def _end_forward(self):
        if self.stack[-1] == "forward":
            self.stack.pop()

    def _stop_if_complete(self):
        if self.is_complete:
            raise ending.WindowComplete()

    # -- the loader ----------------------------------------------------------------------------------

    @guarded
    def loader_started(self, info):
        self._stop_if_complete()
        self.loaders[info.number] = info
        self.tape.add("edge")

    @guarded
    def next_begins(self):
        self._stop_if_complete()
        self._end_forward()
        return self.enter("wait")

    @guarded
    def next_ends(self, token, info, samples):
        depth, position = token
        self.leave(depth)
        self.has_seen_next = True
        self.tape.add("batch", (info.number, samples))
        if info.is_fresh:
            info.is_fresh = False
            self.tape.add("edge")
        if self.first_next is None:
            self.first_next, self.first_loader = position, info.number

    @guarded
    def next_beside(self, info):
        """A loader's next() in another thread than the one that trains."""
        if self.thread is not None and self.loader_beside is None:
            self.loader_beside = info.number

    @guarded
    def next_stops(self, token):
        """A pass over the data is over."""
        self.leave(token[0])
        self.tape.add("edge")
        self.first_next = None

    @guarded
    def fetched(self, info, begin_s, duration_s, samples):
        """A batch was fetched inside next() (no loader workers), in whatever thread."""
        if not self.is_recorded:
            self.fetches.append((info.number, begin_s, duration_s, samples))

    # -- forward and backward ------------------------------------------------------------------------

    @guarded
    def forward_begins(self, ddp, is_training, has_grad):
        """A DDP module's forward. Returns (depth to leave to at its end or None, whether to observe its layers)."""
        self._stop_if_complete()
        if not is_training and (ddp in self.trained or not self.count):
            self.tape.add("edge")
            self.first_next = None
            return None, False
        if not is_training or not has_grad:
            return self.enter("forward")[0], False
        self._cut_if_due()
        self.trained.add(ddp)
        if self.stack[-1] != "forward":
            self.enter("forward")
        self.tape.add("forward", self.ddp_names.get(ddp))
        return None, self.describer.forward_begins(ddp)

    @guarded
    def backward_begins(self, roots):
        """Returns a token for backward_ends, or None when this call is inside another."""
        if self.stack[-1] == "backward":
            return None
        self._end_forward()
        depth, position = self.enter("backward")
        call = Backward(self.tape.stages[position][1])
        self.tape.add("backward", call)
        self.describer.backward_begins(roots)
        self._note_first_operator(call, roots)
        call.sent_before = self.sockets.snapshot()
        if self.unfinished is not None:
            self.unfinished.sent_after = call.sent_before
        self.backward = call
        self.activity.begin()
        return depth, position

    @guarded
    def backward_ends(self, token):
        """Whether gradients were all-reduced in it is known now: DDP has handed over buckets, or it has not.

        Where losses have a backward each, a module's last bucket may be yet to come: then the others go on being sent.
        """
        depth, begin = token
        call, self.backward = self.backward, None
        call.sent_after = self.sockets.snapshot()
        self.unfinished = call if self.reducing else None
        call.end = self.tape.stages[self.leave(depth)][1]
        self.activity.end()
        if not call.synced:
            self.tape.relabel(begin, "backward", "unsynced")

    def _note_first_operator(self, call, roots):
        def note(*_):
            if call.first_operator is None:
                call.first_operator = self.clock.mark()

        for root in roots:
            if root.grad_fn is not None:
                root.grad_fn.register_hook(note)

    @guarded
    def bucket_ready(self, ddp, index, n_bytes, is_last):
        """DDP hands over a gradient bucket, maybe its module's last. Returns it, to be told when it is done."""
        bucket = Bucket(index, self.ddp_names.get(ddp), n_bytes, self.clock.mark())
        (self.reducing.discard if is_last else self.reducing.add)(bucket.module)
        if self.backward is not None:
            self.backward.buckets.append(bucket)
            self.activity.until()
        return bucket

    @guarded
    def bucket_done(self, bucket):
        if self.world_size > 1:
            bucket.done = self.clock.mark()

    # -- the optimizer -------------------------------------------------------------------------------

    @guarded
    def step_begins(self):
        self._stop_if_complete()
        self._end_forward()
        self.step_depth += 1
        return self.enter("optimizer")[0]

    @guarded
    def step_ends(self, depth, optimizer):
        position = self.leave(depth)
        self.step_depth -= 1
        if self.step_depth:
            return
        if self.count == 0:
            self.step_before_forward()
        self.step_position = position
        self.stepped.add(id(optimizer))
        self.known_optimizers.add(id(optimizer))
        self.steps_since_cut[id(optimizer)] += 1
        self.first_next = None
        self.describer.stepped(optimizer)

    @guarded
    def step_before_forward(self):
        """An optimizer stepped before any forward of a DDP module in training mode."""
        self.steps_before_forward += 1
        if self.rank is None or self.steps_before_forward <= self.spec.last:
            return
        why = "no DistributedDataParallel was used"
        if self.record.is_open:
            why = ("DistributedDataParallel's forward was never called in training mode (the module inside it is called, "
                   "or it is in eval mode)")
        self.refuse("%d optimizer steps and %s" % (self.steps_before_forward, why))

    # -- collectives ---------------------------------------------------------------------------------

    @guarded
    def collective(self, op, n_bytes, span_s):
        """A collective that the script called, in whatever thread: for a bucket in a hook, else for itself."""
        bucket = self._bucket_of_call()
        if bucket is not None:
            bucket.wire_bytes = (bucket.wire_bytes or 0) + n_bytes
        elif self.is_mine():
            place = self.stack[-1]
            self.tape.add("collective", Collective(op, n_bytes, _PLACES.get(place, place), span_s))

    def _bucket_of_call(self):
        """The bucket whose communication hook calls: now, or later from the callback of a future."""
        thread = threading.get_ident()
        if self.hook is not None and self.hook[0] == thread:
            return self.hook[1]
        call = self.backward
        if call is None or thread == self.thread:
            return None
        return next((bucket for bucket in call.buckets if bucket.done is None), None)

    @contextlib.contextmanager
    def in_hook(self, bucket):
        """While a communication hook of the script handles `bucket`."""
        self.hook = (threading.get_ident(), bucket)
        try:
            yield
        finally:
            self.hook = None

    # -- iterations ----------------------------------------------------------------------------------

    def _cut_if_due(self):
        """Called when a training forward begins: cut the tape if that opens a new iteration."""
        if self.count == 0:
            self._cut(self.first_next)
        elif self.stepped and self.first_next is not None and not self.cut_at_forward:
            self._cut(self.first_next)
        elif self.stepped and self._is_due_at_forward():
            self._cut(None)

    def _is_due_at_forward(self):
        if not self.cut_at_forward and self.has_seen_next:
            if max(self.steps_since_cut.values()) < _STEPS_WITHOUT_NEXT:
                return False
            self.record.note(
                "the loader's next() does not come between an optimizer step and the forward that follows: "
                "iterations are cut where forward begins"
            )
        elif not self.has_seen_next:
            self.record.note(
                "no DataLoader was used: data processing was not seen" if self.loader_beside is None else
                "the loader is read by a thread of its own: the wait for data was not seen, it is in the rest"
            )
        self.cut_at_forward = True
        if max(self.steps_since_cut.values()) >= _STEPS_WITHOUT_ANOTHER:
            self.known_optimizers = set(self.stepped)
        return self.stepped >= self.known_optimizers

    def _cut(self, position):
        """End the open iteration, if there is one, at a position on the tape (None: here), and open the next."""
        if position is None:
            position = self._switch(self.stack[-1])
        head = self.tape.cut(position)
        begin = self.tape.stages[0][1]
        if self.count and not self.is_recorded:
            self._close_iteration(head, begin)
        self.loader = self.first_loader
        self._open_iteration(begin)

    def _open_iteration(self, begin):
        """Open an iteration. Those after the record is complete are only counted, until the gate ends them."""
        if not self.is_recorded:
            self.label = self.gate.label_after(self.count)
        self.count += 1
        self.stepped.clear()
        self.steps_since_cut.clear()
        self.first_next = None
        if not self.is_recorded:
            self._begin_recording(begin)
        if self.is_recorded and self.gate.is_over(self.count - 1, self.record.note):
            self._complete()

    def _begin_recording(self, begin):
        spec = self.spec
        if self.count == 1 or self.label < spec.first or self.count % _REFRESH_SOCKETS_EVERY == 0:
            self.sockets.refresh()
            self.sent_at_cut = self.sockets.snapshot()
        if self.label == spec.first and not self.window.is_open:
            self.window.open(self.clock.host(begin))
            self.activity.forget()
        if self.label == spec.last + 1:
            self.window.close(self.clock.host(begin))
            if spec.n_profiled:
                self.profile = operators.start(self.record, self.clock.name)
        if self.label > spec.last and (self.profile is None or self.label > spec.last + spec.n_profiled):
            self._write_results()
        if self.profile is not None:
            self.profile.mark("iteration")

    def _close_iteration(self, tape, end):
        if self.count == 1:
            self.record.write(self.describer.model_line(self.ddp_names))
        sent = self._bytes_sent(tape)
        facts = {
            "profiled": self.profile is not None,
            "counted": self.gate.is_counted(self.label),
            "bytes_sent": sent[0],
            "bytes_sent_other": sent[1],
        }
        self.pending.append(Iteration(self.label, tape, end, self.loader, facts))
        self._write_ready()

    def _write_ready(self, until_empty=False):
        while self.pending and (until_empty or self.pending[0].is_ready(self.clock)):
            line = self.pending.popleft().line(self.clock, self.origin_s)
            if line["profiled"]:
                self.profiled.append((line["step_s"], line["edge"]))
            self.record.write(line)

    def _bytes_sent(self, tape):
        """(for gradients, otherwise) in this iteration, or (None, None) while the transport does not seem to be TCP.

        A device runs behind the host, so there the two cannot be told apart.
        """
        calls = [call for call in tape.named("backward") if call.synced]
        before, self.sent_at_cut = self.sent_at_cut, self.sockets.snapshot()
        total = sockets.sent_between(before, self.sent_at_cut)
        sent = total if self.clock.name == "device" else sum(call.bytes_sent() for call in calls)
        self.total_sent += sent
        self.total_handed += sum(bucket.wire_bytes or 0 for call in calls for bucket in call.buckets)
        self.transport_is_seen = self.world_size == 1 or self.total_sent >= _TCP_SHARE * self.total_handed
        return (sent, max(total - sent, 0)) if self.transport_is_seen else (None, None)

    # -- the end -------------------------------------------------------------------------------------

    def _write_window(self):
        self._write_ready(until_empty=True)
        for note in self.window.notes(self.transport_is_seen):
            self.record.note(note)
        lines = (
            self.window.loader_line(self.loader_beside if self.loader is None else self.loader, self.fetches),
            self.window.io_line(),
            self.window.network_line(self.transport_is_seen),
        )
        for line in filter(None, lines):
            self.record.write(line)

    def _write_operators(self):
        if self.profile is None:
            return
        profile, self.profile = self.profile, None
        line = profile.finish(self.record, self.profiled)
        if line:
            self.record.write(line)

    def _write_results(self):
        """The window and the profiled stretch are there: write what is known of them as a whole."""
        self._write_window()
        self._write_operators()
        self._forget_side_files()
        self.is_recorded = True
        self.gate.tell_complete()

    def _write_rounds(self):
        """What a round of an all-reduce costs; a device's collectives are not known to go around a ring."""
        import torch
        from torch.distributed import distributed_c10d

        if self.world_size < 2 or self.clock.name != "cpu" or describe.backend_name(torch) != "gloo":
            return
        group = distributed_c10d._get_default_group()  # pylint: disable=protected-access
        try:
            self.record.write(rounds.measure(group, self.window.length_s(), self.spec.end_timeout_s,
                                             self.activity.duty()))
        except RuntimeError as error:
            self.record.note("what a round of an all-reduce costs was not measured: %s" % str(error).splitlines()[0])

    def _complete(self):
        """Nothing is left to train for: meet the other ranks and leave."""
        self.is_complete = True
        self._forget_side_files()
        self._write_rounds()
        ending.meet(self)
        self.record.complete(self.count - 1)
        ending.leave_soon()
        raise ending.WindowComplete()

    def _forget_side_files(self):
        for info in self.loaders.values():
            info.forget_side_files()

    def n_iterations_ended(self):
        """Iterations that are over when the script has ended: the open one too, if an optimizer stepped in it."""
        return self.count if self.stepped else max(self.count - 1, 0)

    @guarded
    def script_ended(self):
        """The script is over, before it was told to end. Returns whether the record is complete now."""
        if not self.is_recorded and not self._record_open_iteration():
            return False
        self.is_complete = True
        self._forget_side_files()
        self.record.complete(self.n_iterations_ended())
        self.gate.leave(self.spec.end_timeout_s)
        return True

    def _record_open_iteration(self):
        """The script ended in an iteration: the last one, where the window was complete with it."""
        if not self.stepped or self.label < self.spec.last:
            return False
        head = self.tape.cut(self.step_position)
        head.add("edge")
        end = self.tape.stages[0][1]
        self._close_iteration(head, end)
        if not self.window.is_closed:
            self.window.close(self.clock.host(end))
        self._write_results()
        n_profiled = len(self.profiled)
        if n_profiled < self.spec.n_profiled:
            self.record.note(
                "the script ended after %d of %d profiled iterations" % (n_profiled, self.spec.n_profiled)
            )
        return True
