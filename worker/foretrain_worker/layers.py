"""The model, loss and optimizer of a job without code: the tables of what may be typed there, and what is built of it.

Sizes that follow from the input (channels, features) are inferred: a layer names only what it adds.
"""

import collections

INTEGER, NUMBER, BOOLEAN, SHAPE = "integer", "number", "boolean", "integer or pair"

# `keys` are (name, type, whether it must be given); `build` takes (torch.nn, shape of one input sample, options).
LayerKind = collections.namedtuple("LayerKind", "keys build")

_CONVOLUTION = (
    ("out", INTEGER, True), ("kernel", SHAPE, True), ("stride", SHAPE, False), ("padding", SHAPE, False),
    ("dilation", SHAPE, False), ("groups", INTEGER, False), ("bias", BOOLEAN, False),
)
_POOL = (("kernel", SHAPE, True), ("stride", SHAPE, False), ("padding", SHAPE, False))


def _convolution(class_name):
    def build(nn, shape, options):
        renamed = {"out": "out_channels", "kernel": "kernel_size"}
        return getattr(nn, class_name)(shape[0], **{renamed.get(key, key): each for key, each in options.items()})

    return LayerKind(_CONVOLUTION, build)


def _pool(class_name):
    def build(nn, _shape, options):
        return getattr(nn, class_name)(options.pop("kernel"), **options)

    return LayerKind(_POOL, build)


def _batch_norm(class_name):
    return LayerKind((), lambda nn, shape, _options: getattr(nn, class_name)(shape[0]))


def _linear(nn, shape, options):
    return nn.Linear(shape[-1], options.pop("out"), **options)


def _lstm(nn, shape, options):
    """Over a sequence [length, features]; gives the output of every step, or of the last one only."""

    class Lstm(nn.Module):
        def __init__(self, hidden, layers=1, last=False):
            super().__init__()
            self.lstm = nn.LSTM(shape[-1], hidden, layers, batch_first=True)
            self.only_last = last

        def forward(self, sequence):
            output = self.lstm(sequence)[0]
            return output[:, -1] if self.only_last else output

    return Lstm(**options)


def _transformer(nn, shape, options):
    return nn.TransformerEncoderLayer(
        shape[-1], options["heads"], options.get("ff", 2048), options.get("dropout", 0.1), batch_first=True
    )


LAYERS = {
    "linear": LayerKind((("out", INTEGER, True), ("bias", BOOLEAN, False)), _linear),
    "conv1d": _convolution("Conv1d"),
    "conv2d": _convolution("Conv2d"),
    "batch_norm1d": _batch_norm("BatchNorm1d"),
    "batch_norm2d": _batch_norm("BatchNorm2d"),
    "layer_norm": LayerKind((), lambda nn, shape, _options: nn.LayerNorm(shape[-1])),
    "max_pool2d": _pool("MaxPool2d"),
    "avg_pool2d": _pool("AvgPool2d"),
    "adaptive_avg_pool2d": LayerKind(
        (("size", SHAPE, True),), lambda nn, _shape, options: nn.AdaptiveAvgPool2d(options["size"])
    ),
    "flatten": LayerKind((), lambda nn, _shape, _options: nn.Flatten()),
    "dropout": LayerKind((("p", NUMBER, False),), lambda nn, _shape, options: nn.Dropout(**options)),
    "embedding": LayerKind(
        (("size", INTEGER, True), ("dim", INTEGER, True)),
        lambda nn, _shape, options: nn.Embedding(options["size"], options["dim"]),
    ),
    "lstm": LayerKind((("hidden", INTEGER, True), ("layers", INTEGER, False), ("last", BOOLEAN, False)), _lstm),
    "transformer_encoder_layer": LayerKind(
        (("heads", INTEGER, True), ("ff", INTEGER, False), ("dropout", NUMBER, False)), _transformer
    ),
}

ACTIVATIONS = {
    "relu": "ReLU", "relu6": "ReLU6", "leaky_relu": "LeakyReLU", "gelu": "GELU", "silu": "SiLU", "elu": "ELU",
    "selu": "SELU", "mish": "Mish", "hardswish": "Hardswish", "tanh": "Tanh", "sigmoid": "Sigmoid",
    "softplus": "Softplus", "softmax": "Softmax", "log_softmax": "LogSoftmax",
}
_OVER_CLASSES = ("softmax", "log_softmax")

LOSSES = {
    "cross_entropy": "CrossEntropyLoss", "nll": "NLLLoss", "mse": "MSELoss", "l1": "L1Loss",
    "bce_with_logits": "BCEWithLogitsLoss",
}
CLASS_LOSSES = ("cross_entropy", "nll")

OPTIMIZERS = {
    "sgd": ("SGD", {"lr": NUMBER, "momentum": NUMBER, "weight_decay": NUMBER, "nesterov": BOOLEAN}),
    "adam": ("Adam", {"lr": NUMBER, "weight_decay": NUMBER, "eps": NUMBER, "amsgrad": BOOLEAN}),
    "adamw": ("AdamW", {"lr": NUMBER, "weight_decay": NUMBER, "eps": NUMBER, "amsgrad": BOOLEAN}),
    "rmsprop": ("RMSprop", {"lr": NUMBER, "momentum": NUMBER, "weight_decay": NUMBER, "alpha": NUMBER}),
    "adagrad": ("Adagrad", {"lr": NUMBER, "weight_decay": NUMBER, "lr_decay": NUMBER}),
}
_DEFAULT_LR = {"sgd": 0.01}


class LayerError(ValueError):
    """A job's model that cannot be built, in the user's words."""


def tables():
    """All that may be typed in a job, for the job reader's own table to be held against."""
    return {
        "layers": {
            kind: {name: {"type": type_name, "required": required} for name, type_name, required in layer.keys}
            for kind, layer in LAYERS.items()
        },
        "activations": sorted(ACTIVATIONS),
        "losses": sorted(LOSSES),
        "optimizers": {kind: keys for kind, (_, keys) in OPTIMIZERS.items()},
    }


def build_model(input_shape, layers):
    """nn.Sequential of the typed layers. Returns (model, shape of one output sample)."""
    import torch

    shape, modules = tuple(input_shape), []
    takes_indices = bool(layers) and layers[0].get("kind") == "embedding"
    for number, layer in enumerate(layers, 1):
        try:
            for module in _modules_of(torch.nn, layer, shape):
                modules.append(module)
                shape = _output_shape(torch, module, shape, takes_indices)
                takes_indices = False
        except LayerError as error:
            raise LayerError("layer %d: %s" % (number, error)) from None
        except Exception as error:  # pylint: disable=broad-except
            raise LayerError(
                "layer %d (%s) does not fit an input of %s: %s"
                % (number, layer.get("kind"), "x".join(map(str, shape)), str(error).splitlines()[0])
            ) from error
    return torch.nn.Sequential(*modules), shape


def _modules_of(nn, layer, shape):
    """The layer's module, then its activation's; a kind that is an activation's name stands alone."""
    kind = layer.get("kind")
    activation = layer.get("activation")
    if kind in LAYERS:
        options = {key: _as_size(value) for key, value in layer.items() if key not in ("kind", "activation")}
        _check_options(kind, options)
        yield LAYERS[kind].build(nn, shape, options)
    elif kind in ACTIVATIONS:
        activation = kind
    else:
        raise LayerError("unknown kind of layer %r; known are %s" % (kind, ", ".join(sorted(LAYERS))))
    if activation is not None:
        yield _activation(nn, activation)


def _check_options(kind, options):
    keys = {name: required for name, _, required in LAYERS[kind].keys}
    unknown = sorted(set(options) - set(keys))
    missing = sorted(name for name, required in keys.items() if required and name not in options)
    if unknown:
        raise LayerError("%s has no key %r; it has %s" % (kind, unknown[0], ", ".join(keys) or "none"))
    if missing:
        raise LayerError("%s needs %r" % (kind, missing[0]))


def _as_size(value):
    return tuple(value) if isinstance(value, list) else value


def _activation(nn, name):
    if name not in ACTIVATIONS:
        raise LayerError("unknown activation %r; known are %s" % (name, ", ".join(sorted(ACTIVATIONS))))
    options = {"dim": -1} if name in _OVER_CLASSES else {}
    return getattr(nn, ACTIVATIONS[name])(**options)


def _output_shape(torch, module, shape, takes_indices):
    module.eval()
    sample = torch.zeros((1,) + shape, dtype=torch.long if takes_indices else torch.float32)
    with torch.no_grad():
        output = module(sample)
    module.train()
    return tuple(output.shape[1:])


def build_loss(kind):
    """The loss, as a function of (output, target). Classes are the output's last dimension, of images the first."""
    import torch

    if kind not in LOSSES:
        raise LayerError("unknown loss %r; known are %s" % (kind, ", ".join(sorted(LOSSES))))
    loss = getattr(torch.nn, LOSSES[kind])()
    if kind not in CLASS_LOSSES:
        return loss

    def class_loss(output, target):
        return loss(output.movedim(-1, 1) if output.dim() == 3 else output, target)

    return class_loss


def class_dimension(output_shape):
    """Where the classes are in one output sample's shape."""
    return 0 if len(output_shape) == 3 else len(output_shape) - 1


def build_optimizer(settings, parameters):
    """The optimizer of a job's `optimizer` object, over the parameters."""
    import torch

    options = dict(settings)
    kind = options.pop("kind", None)
    if kind not in OPTIMIZERS:
        raise LayerError("unknown optimizer %r; known are %s" % (kind, ", ".join(sorted(OPTIMIZERS))))
    name, keys = OPTIMIZERS[kind]
    unknown = sorted(set(options) - set(keys))
    if unknown:
        raise LayerError("%s has no setting %r; it has %s" % (kind, unknown[0], ", ".join(keys)))
    if kind in _DEFAULT_LR:
        options.setdefault("lr", _DEFAULT_LR[kind])
    return getattr(torch.optim, name)(parameters, **options)
