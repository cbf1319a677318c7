"""Patches torch.distributed and DistributedDataParallel: the group, forward, gradient buckets, other collectives."""

import contextlib
import ctypes
import functools
import weakref

from foretrain_worker import clock
from foretrain_worker.describe import tensors_in

# Collectives of torch.distributed, each with the place and the name of the argument whose bytes it is handed.
_COLLECTIVES = {
    "all_reduce": (0, "tensor"), "all_reduce_coalesced": (0, "tensors"), "broadcast": (0, "tensor"), "reduce": (0, "tensor"),
    "all_gather": (1, "tensor"), "gather": (0, "tensor"), "all_gather_into_tensor": (1, "input_tensor"),
    "_all_gather_base": (1, "input_tensor"), "reduce_scatter": (1, "input_list"), "reduce_scatter_tensor": (1, "input"),
    "_reduce_scatter_base": (1, "input"), "all_to_all": (1, "input_tensor_list"), "all_to_all_single": (1, "input"),
    "scatter": (0, "tensor"), "send": (0, "tensor"), "recv": (0, "tensor"), "isend": (0, "tensor"), "irecv": (0, "tensor"),
    "barrier": (0, None),
}


def apply(watch):
    import torch.distributed as dist
    from torch.distributed import distributed_c10d
    from torch.nn.parallel import DistributedDataParallel, distributed
    from foretrain_worker import refusals

    _patch_group(dist, distributed_c10d, watch)
    for name, argument in _COLLECTIVES.items():
        _patch_collective(dist, distributed_c10d, name, argument, watch)
    refusals.refuse_uneven_inputs(distributed)
    hooks = BucketHooks(watch)
    _patch_build(DistributedDataParallel, dist, watch, hooks)
    _patch_forward(DistributedDataParallel, watch)
    _patch_hook_registration(DistributedDataParallel, hooks)
    _patch_buffer_broadcast(DistributedDataParallel, watch)


def _set_in(modules, name, function):
    """Replace a function in every module that offers it by that name."""
    for module in modules:
        if hasattr(module, name):
            setattr(module, name, function)


def _patch_group(dist, distributed_c10d, watch):
    original = dist.init_process_group

    @functools.wraps(original)
    def init(backend=None, *args, **kwargs):
        wanted = watch.spec.backend
        if wanted and wanted not in (backend or ""):
            if backend is not None:
                watch.record.note("the script asks for backend %s; the job's %s is used" % (backend, wanted))
            backend = wanted
        result = original(backend, *args, **kwargs)
        watch.group_joined(dist.get_rank(), dist.get_world_size())
        return result

    _set_in((dist, distributed_c10d), "init_process_group", init)


def tensor_bytes(tensor):
    """Bytes of a tensor's values; a sparse one's values and indices."""
    if tensor.is_sparse:
        parts = (tensor._values(), tensor._indices())
        return sum(part.numel() * part.element_size() for part in parts)
    return tensor.numel() * tensor.element_size()


def _patch_collective(dist, distributed_c10d, name, argument, watch):
    original = getattr(dist, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def collective(*args, **kwargs):
        if not watch.is_mine() and watch.backward is None:
            return original(*args, **kwargs)
        place, keyword = argument
        values = args[place] if keyword and len(args) > place else kwargs.get(keyword)
        n_bytes = sum(map(tensor_bytes, tensors_in(values)))
        begin_s = clock.now()
        result = original(*args, **kwargs)
        watch.collective(name.lstrip("_"), n_bytes, None if kwargs.get("async_op") else clock.now() - begin_s)
        return result

    _set_in((dist, distributed_c10d), name, collective)


def _patch_buffer_broadcast(ddp_class, watch):
    original = ddp_class._distributed_broadcast_coalesced

    @functools.wraps(original)
    def broadcast(self, tensors, *args, **kwargs):
        if not watch.is_mine():
            return original(self, tensors, *args, **kwargs)
        begin_s = clock.now()
        original(self, tensors, *args, **kwargs)
        watch.collective("broadcast_coalesced", sum(map(tensor_bytes, tensors)), clock.now() - begin_s)
        return None

    ddp_class._distributed_broadcast_coalesced = broadcast


def _patch_build(ddp_class, dist, watch, hooks):
    original = ddp_class.__init__

    @functools.wraps(original)
    def build(self, *args, **kwargs):
        original(self, *args, **kwargs)
        watch.ddp_built(self, dist.get_world_size(self.process_group))
        hooks.attach(self)

    ddp_class.__init__ = build


def _patch_forward(ddp_class, watch):
    import torch

    original = ddp_class.forward

    @functools.wraps(original)
    def forward(self, *args, **kwargs):
        if not watch.is_mine():
            return original(self, *args, **kwargs)
        depth, is_first = watch.forward_begins(self, self.training, torch.is_grad_enabled())
        observing = watch.describer.during_forward(self) if is_first else contextlib.nullcontext()
        try:
            with observing:
                return original(self, *args, **kwargs)
        finally:
            if depth is not None:
                watch.leave(depth)

    ddp_class.forward = forward


class BucketHooks:
    """One communication hook for each DDP module: it notes the buckets and does what DDP, or the script's hook, does.

    DDP's own way, as its reducer does it: multiply by 1 over the group's size, then all-reduce, not waiting.
    """

    def __init__(self, watch):
        self._watch = watch
        self._own = weakref.WeakKeyDictionary()
        self._attached = weakref.WeakSet()
        self._groups = []

    def attach(self, ddp):
        """Register the watch's hook. DDP allows one for each module; the script's own is called from ours."""
        import torch.distributed as dist

        if ddp in self._attached:
            return
        self._attached.add(ddp)
        self._keep_group(ddp.process_group)
        weakly = weakref.ref(ddp)

        def hook(_state, bucket):
            return self._handle(weakly(), bucket)

        dist._register_comm_hook(ddp.reducer, None, hook)

    def _keep_group(self, group):
        """Never let a group be destructed, even in the interpreter's teardown.

        ProcessGroupGloo's destructor holds Python's lock while it waits for the group's threads, and such a thread needs
        that lock when it lets go of a hook's callback: the script would hang at its end, now and then.
        """
        if all(known is not group for known in self._groups):
            self._groups.append(group)
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(group))

    def set_own(self, ddp, state, hook):
        """The script registers a hook of its own."""
        if ddp in self._own:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self._own[ddp] = (state, hook)
        self.attach(ddp)

    def _handle(self, ddp, bucket):
        buffer = bucket.buffer()
        noted = self._watch.bucket_ready(ddp, bucket.index(), tensor_bytes(buffer), bucket.is_last())
        if ddp in self._own:
            state, hook = self._own[ddp]
            with self._watch.in_hook(noted):
                future = hook(state, bucket)
            return future.then(self._done(noted, lambda done: done.value()))
        noted.wire_bytes = noted.n_bytes
        group = ddp.process_group
        buffer.mul_(1.0 / group.size())
        future = group.allreduce([buffer]).get_future()
        return future.then(self._done(noted, lambda done: done.value()[0]))

    def _done(self, noted, value_of):
        def note(future):
            value = value_of(future)
            self._watch.bucket_done(noted)
            return value

        return note


def _patch_hook_registration(ddp_class, hooks):
    register = ddp_class.register_comm_hook
    register_builtin = ddp_class._register_builtin_comm_hook

    @functools.wraps(register)
    def register_own(self, state, hook):
        self._check_comm_hook(hook)
        self.logger._set_comm_hook_name(hook.__qualname__)
        if hasattr(self, "_comm_hooks"):
            self._comm_hooks.append((hook, state))
        hooks.set_own(self, state, hook)

    @functools.wraps(register_builtin)
    def register_own_builtin(self, comm_hook_type):
        self.logger._set_comm_hook_name(str(comm_hook_type))
        hooks.set_own(self, None, _python_hook(self, comm_hook_type))

    ddp_class.register_comm_hook = register_own
    ddp_class._register_builtin_comm_hook = register_own_builtin


def _python_hook(ddp, comm_hook_type):
    """torch's Python hook that does the same as its built-in one."""
    import torch.distributed as dist
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

    if comm_hook_type == dist.BuiltinCommHookType.FP16_COMPRESS:
        plain = default_hooks.fp16_compress_hook
    else:
        plain = default_hooks.allreduce_hook
    return lambda _state, bucket: plain(ddp.process_group, bucket)
