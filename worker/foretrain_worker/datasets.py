"""The training data of the built-in loop: a device's random draw of a data set, and data sets for typed layers."""

import os

from foretrain_worker import layers

IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".ppm", ".tif", ".tiff")
_TENSOR_ENDINGS = (".npz", ".pt", ".npy")
_SYNTHETIC_BATCHES = 64


class DataError(ValueError):
    """Training data that does not fit the job, in the user's words."""


def samples_per_device(data):
    """How many samples each device is given, or None where the job does not say."""
    if not data:
        return None
    if data.get("samples_per_device"):
        return int(data["samples_per_device"])
    if data.get("bytes_per_device") and data.get("sample_bytes"):
        return int(data["bytes_per_device"] // data["sample_bytes"])
    return None


def share_of(data, types_by_rank, rank, n_samples):
    """Where this device's share begins in the order from which all device types are drawn, and its size, in samples.

    Without an amount in the job every device of the measurement gets an equal share.
    """
    of_type = [i for i, name in enumerate(types_by_rank) if name == types_by_rank[rank]]
    place, n_each = of_type.index(rank), samples_per_device(data)
    data = data or {}
    if n_each is None:
        n_each = n_samples // data.get("devices_in_all", len(types_by_rank))
        return (data.get("devices_before", 0) + place) * n_each, n_each
    before = data.get("samples_before", 0)
    needed = before + n_each * len(of_type)
    if needed > n_samples:
        raise DataError(
            "the data set has %d samples; %d devices of %d samples each%s need %d: %d too few"
            % (n_samples, len(of_type), n_each, " after %d for other types" % before if before else "", needed, needed - n_samples)
        )
    return before + place * n_each, n_each


def draw_indices(n_samples, start, n_each, seed):
    """`n_each` indices from `start` on, of the seed's random order of all `n_samples`."""
    import torch

    order = torch.randperm(n_samples, generator=torch.Generator().manual_seed(seed))
    return order[start : start + n_each].tolist()


class ImageFolder:
    """Images in class folders, decoded and resized to (channels, height, width)."""

    def __init__(self, root, classes, shape):
        self._shape = shape
        self._files = [
            (os.path.join(root, name, file), label)
            for label, name in enumerate(classes)
            for file in sorted(os.listdir(os.path.join(root, name)))
            if file.lower().endswith(IMAGE_ENDINGS)
        ]

    def __len__(self):
        return len(self._files)

    def __getitem__(self, index):
        import torch
        from PIL import Image

        path, label = self._files[index]
        channels, height, width = self._shape
        with Image.open(path) as image:
            image = image.convert("L" if channels == 1 else "RGB").resize((width, height))
            pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
        return pixels.view(height, width, channels).permute(2, 0, 1).float().div(255), label


def open_dataset(data, model, output_shape, n_synthetic, seed):
    """The data set for typed layers. Returns (data set, whether it is the device's own already, note or None)."""
    folder = (data or {}).get("dir")
    shape, loss = tuple(model["input"]), model["loss"]
    if not folder:
        return _synthetic(model, output_shape, n_synthetic, seed), True, (
            "the training data is synthetic: no data was given, so loading costs what making tensors costs"
        )
    classes = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    if classes and len(shape) == 3:
        if loss not in layers.CLASS_LOSSES:
            raise DataError("class folders need the loss cross_entropy or nll, not %s" % loss)
        n_classes = output_shape[layers.class_dimension(output_shape)]
        if len(classes) > n_classes:
            raise DataError("%s has %d class folders, the model gives %d classes" % (folder, len(classes), n_classes))
        return ImageFolder(folder, classes, shape), False, None
    tensors = _load_tensors(folder)
    if tuple(tensors[0].shape[1:]) != shape:
        raise DataError("samples in %s are %s, the model's input is %s" % (folder, list(tensors[0].shape[1:]), list(shape)))
    import torch

    return torch.utils.data.TensorDataset(*tensors), False, None


def _load_tensors(folder):
    """(inputs, targets) from x.npy and y.npy, a .npz with x and y, or a .pt with a pair or {x, y}."""
    import torch

    names = sorted(name for name in os.listdir(folder) if name.endswith(_TENSOR_ENDINGS))
    if {"x.npy", "y.npy"} <= set(names):
        import numpy

        return [torch.from_numpy(numpy.load(os.path.join(folder, name))) for name in ("x.npy", "y.npy")]
    for name in names:
        path = os.path.join(folder, name)
        if name.endswith(".npz"):
            import numpy

            held = numpy.load(path)
            return [torch.from_numpy(held[key]) for key in ("x", "y")]
        if name.endswith(".pt"):
            held = torch.load(path)
            return [held["x"], held["y"]] if isinstance(held, dict) else list(held)
    raise DataError(
        "%s holds neither class folders with images nor tensors (x.npy and y.npy, a .npz with x and y, a .pt)" % folder
    )


def _synthetic(model, output_shape, n_samples, seed):
    """Random inputs and targets that fit the model and its loss, in memory."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    shape = (n_samples,) + tuple(model["input"])
    first = model["layers"][0]
    if first.get("kind") == "embedding":
        inputs = torch.randint(0, first["size"], shape, generator=generator)
    else:
        inputs = torch.randn(shape, generator=generator)
    if model["loss"] in layers.CLASS_LOSSES:
        at = layers.class_dimension(output_shape)
        target_shape = output_shape[:at] + output_shape[at + 1 :]
        targets = torch.randint(0, output_shape[at], (n_samples,) + target_shape, generator=generator)
    else:
        targets = torch.rand((n_samples,) + output_shape, generator=generator)
    return torch.utils.data.TensorDataset(inputs, targets)


def n_synthetic_samples(data, batch):
    """As many as the job gives each device, but no more than a few batches: they are all alike."""
    wanted = samples_per_device(data) or _SYNTHETIC_BATCHES * batch
    return max(min(wanted, _SYNTHETIC_BATCHES * batch), batch)
