"""Engines that cannot be watched, refused by name as soon as a script uses them."""

import functools


_ENGINE = "%s cannot be watched: foretrain measures DistributedDataParallel"


def _refuse_call(owner, name, text):
    """Make `owner.name` refuse the training when it is called."""
    original = getattr(owner, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def call(*_args, **_kwargs):
        from foretrain_worker import watch

        watch.current.refuse(text)

    setattr(owner, name, call)


def _refuse_fsdp(module):
    _refuse_call(module.FullyShardedDataParallel, "__init__", _ENGINE % "FullyShardedDataParallel (FSDP)")
    _refuse_call(module, "fully_shard", _ENGINE % "fully_shard (FSDP2)")


def _refuse_deepspeed(module):
    _refuse_call(module, "initialize", _ENGINE % "DeepSpeed")


def _refuse_horovod(module):
    _refuse_call(module, "DistributedOptimizer", _ENGINE % "Horovod")


def refuse_data_parallel(torch):
    _refuse_call(torch.nn.DataParallel, "forward", _ENGINE % "torch.nn.DataParallel")


def refuse_uneven_inputs(ddp_module):
    """In DDP's join(): what a rank does that is out of data while others still train."""
    hook = getattr(ddp_module, "_DDPJoinHook", None)
    if hook is not None:
        _refuse_call(
            hook, "main_hook",
            "join() of ranks with different numbers of batches cannot be watched: their iterations are not the same",
        )


ACTIONS = {
    "torch.distributed.fsdp": _refuse_fsdp,
    "deepspeed": _refuse_deepspeed,
    "horovod.torch": _refuse_horovod,
}
