"""Engines that cannot be watched, refused by name as soon as a script uses them."""

import functools


def _refuse_call(owner, name, engine):
    """Make `owner.name` refuse the training when it is called."""
    original = getattr(owner, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def call(*_args, **_kwargs):
        from foretrain_worker import watch

        watch.current.refuse("%s cannot be watched: foretrain measures DistributedDataParallel" % engine)

    setattr(owner, name, call)


def _refuse_fsdp(module):
    _refuse_call(module.FullyShardedDataParallel, "__init__", "FullyShardedDataParallel (FSDP)")
    _refuse_call(module, "fully_shard", "fully_shard (FSDP2)")


def _refuse_deepspeed(module):
    _refuse_call(module, "initialize", "DeepSpeed")


def _refuse_horovod(module):
    _refuse_call(module, "DistributedOptimizer", "Horovod")


def refuse_data_parallel(torch):
    _refuse_call(torch.nn.DataParallel, "forward", "torch.nn.DataParallel")


ACTIONS = {
    "torch.distributed.fsdp": _refuse_fsdp,
    "deepspeed": _refuse_deepspeed,
    "horovod.torch": _refuse_horovod,
}
