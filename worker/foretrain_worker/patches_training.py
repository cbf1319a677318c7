"""Patches backward, the optimizers, the gradient scaler, copies to the device, and mp.spawn."""

import functools
import os


def apply(watch):
    import torch
    from foretrain_worker import refusals

    _patch_backward(torch.autograd, watch)
    _patch_optimizers(torch.optim.Optimizer, watch)
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        owner.zero_grad = _in_stage(owner.zero_grad, "optimizer", watch)
    _patch_clipping(torch.nn.utils, watch)
    _patch_scaler(_scaler_class(torch), watch)
    if watch.spec.device != "cpu":
        _patch_copy(torch.Tensor, "to", watch)
        _patch_copy(torch.Tensor, watch.spec.device, watch)
    _patch_spawn()
    refusals.refuse_data_parallel(torch)


def _patch_backward(autograd, watch):
    """Tensor.backward calls torch.autograd.backward, so this catches both."""
    original = autograd.backward

    @functools.wraps(original)
    def backward(tensors, *args, **kwargs):
        if not watch.is_mine():
            return original(tensors, *args, **kwargs)
        roots = [tensors] if hasattr(tensors, "grad_fn") else list(tensors)
        token = watch.backward_begins(roots)
        try:
            return original(roots, *args, **kwargs)
        finally:
            if token is not None:
                watch.backward_ends(token)

    autograd.backward = backward


def _patch_optimizers(optimizer_class, watch):
    """Each class of optimizers brings its own step(): it is wrapped when the first one of that class is built."""
    original = optimizer_class.__init__

    @functools.wraps(original)
    def build(self, *args, **kwargs):
        original(self, *args, **kwargs)
        step = type(self).step
        if not getattr(step, "foretrain_watches", False):
            type(self).step = _watched_step(step, watch)

    optimizer_class.__init__ = build


def _watched_step(original, watch, optimizer_of=lambda args: args[0]):
    @functools.wraps(original)
    def step(*args, **kwargs):
        if not watch.is_mine():
            if watch.in_rank_process() and watch.thread is None:
                watch.step_before_forward()
            return original(*args, **kwargs)
        depth = watch.step_begins()
        try:
            return original(*args, **kwargs)
        finally:
            watch.step_ends(depth, optimizer_of(args))

    step.foretrain_watches = True
    return step


def _scaler_class(torch):
    """The gradient scaler's class that holds its methods: torch.amp's where it exists (2.3 and later)."""
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler
    return torch.cuda.amp.GradScaler


def _patch_scaler(scaler_class, watch):
    """scaler.step counts as the optimizer's step, also when it skips it; unscaling and updating belong to it."""
    scaler_class.step = _watched_step(scaler_class.step, watch, optimizer_of=lambda args: args[1])
    for name in ("unscale_", "update"):
        setattr(scaler_class, name, _in_stage(getattr(scaler_class, name), "optimizer", watch))


def _patch_clipping(utils, watch):
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        clip = _in_stage(getattr(utils, name), "optimizer", watch)
        for module in (utils, utils.clip_grad):
            setattr(module, name, clip)


def _in_stage(original, stage, watch):
    @functools.wraps(original)
    def call(*args, **kwargs):
        if not watch.is_mine():
            return original(*args, **kwargs)
        depth, _ = watch.enter(stage)
        try:
            return original(*args, **kwargs)
        finally:
            watch.leave(depth)

    return call


def _patch_copy(tensor_class, name, watch):
    """A tensor's copy from the host to the device, outside of next()."""
    original = getattr(tensor_class, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def copy(self, *args, **kwargs):
        if self.device.type != "cpu" or not watch.is_mine() or watch.stack[-1] in ("wait", "copy"):
            return original(self, *args, **kwargs)
        depth, _ = watch.enter("copy")
        try:
            return original(self, *args, **kwargs)
        finally:
            watch.leave(depth)

    setattr(tensor_class, name, copy)


class _OneRank:
    """The function of mp.spawn, for the one rank that this process stands for."""

    def __init__(self, function, rank):
        self._function = function
        self._rank = rank

    def __call__(self, _index, *args):
        return self._function(self._rank, *args)


def _patch_spawn():
    """Where the launcher starts one process for each rank, mp.spawn in each spawns that one rank only.

    So a script that spawns its ranks itself has them on their own CPUs too. Started once (WORLD_SIZE of 1 or
    none), it spawns all as ever.
    """
    import torch.multiprocessing as mp

    original = mp.spawn
    world_size = int(os.environ.get("WORLD_SIZE") or 1)
    local_rank = int(os.environ.get("LOCAL_RANK") or 0)

    @functools.wraps(original)
    def spawn(fn, args=(), nprocs=1, *others, **kwargs):
        if world_size == 1 or nprocs != world_size:
            return original(fn, args, nprocs, *others, **kwargs)
        return original(_OneRank(fn, local_rank), args, 1, *others, **kwargs)

    mp.spawn = spawn
