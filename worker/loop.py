"""The training script for jobs that bring a model and no script: kinds `entry` and `layers` of foretrain.spec/1.

Started like any other script, with torchrun's variables, and watched by the same hooks. It trains until it is ended.

    python -u loop.py                  train what FORETRAIN_SPEC says
    python loop.py --list-layers       the layers, activations, losses and optimizers that a job may type, as JSON
"""

import importlib.util
import json
import os
import sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)))

from foretrain_worker import datasets, layers, record  # noqa: E402  pylint: disable=wrong-import-position


class EntryError(ValueError):
    """A user's entry function that does not give what is needed, in the user's words."""


def load_entry(model):
    """Call the job's function. Returns (model, loss, optimizer, data set) as it gave them."""
    path, name = model["file"], model["function"]
    module_name = os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(module_name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if function is None:
        raise EntryError("%s has no function %s" % (path, name))
    parts = function(**(model.get("args") or {}))
    if not isinstance(parts, (tuple, list)) or len(parts) != 4:
        raise EntryError("%s in %s must return model, loss, optimizer and data set" % (name, path))
    return parts


def build(spec, rank):
    """Returns (model, loss, function of parameters that gives the optimizer, data set, whether it is drawn already)."""
    model = spec.model
    if model["kind"] == "entry":
        module, loss, optimizer, dataset = load_entry(model)
        optimizer_of = optimizer if callable(optimizer) else lambda _parameters: optimizer
        return module, loss, optimizer_of, dataset, False
    module, output_shape = layers.build_model(model["input"], model["layers"])
    n_synthetic = datasets.n_synthetic_samples(spec.data, spec.batch_of(rank))
    dataset, is_drawn, note = datasets.open_dataset(spec.data, model, output_shape, n_synthetic, spec.seed + rank)
    if note:
        say(note)
    return (
        module,
        layers.build_loss(model["loss"]),
        lambda parameters: layers.build_optimizer(model["optimizer"], parameters),
        dataset,
        is_drawn,
    )


def build_loader(spec, dataset, is_drawn, rank):
    """A loader over this device's share of the data set."""
    import torch
    from torch.utils.data import DataLoader, IterableDataset, Subset

    batch, workers = spec.batch_of(rank), (spec.data or {}).get("workers") or 0
    if isinstance(dataset, IterableDataset):
        say("the data set is an IterableDataset: every device reads it as it comes, nothing was drawn")
        return DataLoader(dataset, batch_size=batch, num_workers=workers)
    if not is_drawn:
        types = spec.types_by_rank or [spec.device_type] * spec.n_devices
        start, n_each = datasets.share_of(spec.data, types, rank, len(dataset))
        dataset = Subset(dataset, datasets.draw_indices(len(dataset), start, n_each, spec.seed))
    if len(dataset) < batch:
        raise datasets.DataError("a device is given %d samples, less than one mini-batch of %d" % (len(dataset), batch))
    generator = torch.Generator().manual_seed(spec.seed + rank)
    return DataLoader(
        dataset, batch_size=batch, shuffle=True, drop_last=True, num_workers=workers, generator=generator
    )


def device_of(torch, spec):
    if spec.device == "cpu":
        return torch.device("cpu")
    device = torch.device(spec.device, int(os.environ.get("LOCAL_RANK", 0)))
    getattr(torch, spec.device).set_device(device)
    return device


def move(value, device):
    """Tensors in nested tuples, lists and dictionaries, on the device."""
    if hasattr(value, "to"):
        return value.to(device, non_blocking=True)
    if isinstance(value, dict):
        return {key: move(each, device) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(move(each, device) for each in value)
    return value


def train(spec):
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    dist.init_process_group(spec.backend or ("gloo" if spec.device == "cpu" else "nccl"))
    rank, device = dist.get_rank(), device_of(torch, spec)
    torch.manual_seed(spec.seed)
    module, loss_of, optimizer_of, dataset, is_drawn = build(spec, rank)
    loader = build_loader(spec, dataset, is_drawn, rank)
    model = DistributedDataParallel(module.to(device), device_ids=None if device.type == "cpu" else [device.index])
    optimizer = optimizer_of(model.parameters())
    model.train()
    while True:
        for batch in loader:
            *inputs, target = move(batch, device)
            optimizer.zero_grad()
            loss = loss_of(model(*inputs), target)
            loss.backward()
            optimizer.step()


def say(note):
    """Put a note in the record of the watch, if there is one."""
    from foretrain_worker import watch

    if watch.current is not None:
        watch.current.record.note(note)


def main():
    if sys.argv[1:] == ["--list-layers"]:
        json.dump(layers.tables(), sys.stdout, indent=2, sort_keys=True)
        print()
        return
    try:
        train(record.load_spec())
    except (layers.LayerError, datasets.DataError, EntryError) as error:
        from foretrain_worker import watch

        if watch.current is None:
            raise
        watch.current.refuse(str(error))


if __name__ == "__main__":
    main()
