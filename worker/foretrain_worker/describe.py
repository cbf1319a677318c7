"""Describes the model, the loss, the optimizers and the device that a training uses, as found while it runs."""

import contextlib
import json

_ACTIVATION_FUNCTIONS = {
    "relu", "relu6", "gelu", "tanh", "sigmoid", "silu", "leaky_relu", "elu", "selu", "celu", "mish", "softplus",
    "softmax", "log_softmax", "hardtanh", "hardswish", "hardsigmoid", "prelu", "glu",
}
_ACTIVATION_MODULES = {
    "ReLU": "relu", "ReLU6": "relu6", "GELU": "gelu", "Tanh": "tanh", "Sigmoid": "sigmoid", "SiLU": "silu",
    "LeakyReLU": "leaky_relu", "ELU": "elu", "SELU": "selu", "CELU": "celu", "Mish": "mish", "Softplus": "softplus",
    "Softmax": "softmax", "LogSoftmax": "log_softmax", "Hardtanh": "hardtanh", "Hardswish": "hardswish",
    "Hardsigmoid": "hardsigmoid", "PReLU": "prelu", "GLU": "glu",
}
_PASSED_BY_ACTIVATION = ("Norm", "Dropout", "Pool", "Identity", "Flatten")
_LOSS_MODULES = {
    "CrossEntropyLoss": "cross_entropy", "MSELoss": "mse", "L1Loss": "l1", "SmoothL1Loss": "smooth_l1",
    "BCELoss": "bce", "BCEWithLogitsLoss": "bce_with_logits", "NLLLoss": "nll", "KLDivLoss": "kl_div",
    "HuberLoss": "huber", "CTCLoss": "ctc",
}
_LOSS_NODES = {
    "NllLoss": "nll", "CrossEntropyLoss": "cross_entropy", "MseLoss": "mse", "L1Loss": "l1",
    "SmoothL1Loss": "smooth_l1", "BinaryCrossEntropyWithLogits": "bce_with_logits", "BinaryCrossEntropy": "bce",
    "KlDiv": "kl_div", "HuberLoss": "huber", "CtcLoss": "ctc",
}
_MAX_NODES_SEARCHED = 64


class Describer:
    """Watches the first forward of each DDP module by hooks and a function mode, both removed afterwards."""

    def __init__(self):
        self._layers = {}
        self._is_written = False
        self._loss_hook = None
        self._loss = None
        self._optimizers = []

    def forward_begins(self, ddp):
        """A training forward begins. Returns whether it is the module's first, to be observed."""
        if self._is_written:
            return False
        if self._loss is None and self._loss_hook is None:
            self._loss_hook = self._watch_loss_modules()
        return self._layers.setdefault(ddp, None) is None

    @contextlib.contextmanager
    def during_forward(self, ddp):
        """Around a DDP module's first training forward."""
        observer = LayerObserver(ddp.module)
        try:
            with observer.watching():
                yield
        finally:
            self._layers[ddp] = observer.lines()

    def backward_begins(self, roots):
        if self._loss_hook is not None:
            self._loss_hook.remove()
            self._loss_hook = None
        if self._loss is None and roots:
            self._loss = loss_of_graph(roots[0])

    def _watch_loss_modules(self):
        from torch.nn.modules import module as modules
        from torch.nn.modules.loss import _Loss

        def note(module, _inputs, _output):
            if isinstance(module, _Loss):
                name = type(module).__name__
                self._loss = _LOSS_MODULES.get(name, name)

        return modules.register_module_forward_hook(note)

    def stepped(self, optimizer):
        if not self._is_written and all(known is not optimizer for known in self._optimizers):
            self._optimizers.append(optimizer)

    def model_line(self, ddp_names):
        """The `model` line, of all that was seen in the first iteration."""
        self._is_written = True
        layers_of, self._layers = self._layers, {}
        return {
            "kind": "model",
            "modules": [
                module_line(ddp_names[ddp], ddp.module, layers or []) for ddp, layers in layers_of.items()
            ],
            "loss": self._loss,
            "optimizers": [optimizer_line(optimizer) for optimizer in self._optimizers],
        }


class LayerObserver:
    """Notes the layers of one module in the order of their first call."""

    def __init__(self, module):
        self._module = module
        self._layers = {}
        self._last = None

    @contextlib.contextmanager
    def watching(self):
        handles = []
        for name, layer in self._module.named_modules():
            if _is_layer(layer):
                with contextlib.suppress(RuntimeError):
                    handles.append(layer.register_forward_hook(self._hook(name)))
        try:
            with _activation_mode(self._saw_activation):
                yield
        finally:
            for handle in handles:
                handle.remove()

    def _hook(self, name):
        def note(layer, inputs, output):
            activation = _ACTIVATION_MODULES.get(type(layer).__name__)
            if activation:
                self._saw_activation(activation)
            known = self._layers.get(name)
            if known is not None:
                known["calls"] += 1
            else:
                known = self._layers[name] = _layer_line(len(self._layers), name, layer, inputs, output)
            if not _is_passed_by_activation(layer):
                self._last = known

        return note

    def _saw_activation(self, name):
        if self._last is not None and self._last["activation"] is None:
            self._last["activation"] = name

    def lines(self):
        """The layers seen, then those with parameters of their own that were never called."""
        lines = list(self._layers.values())
        for name, layer in self._module.named_modules():
            if name not in self._layers and _own_parameters(layer):
                line = _layer_line(len(lines), name, layer, (), None)
                line["calls"] = 0
                lines.append(line)
        return lines


def _is_layer(module):
    return not any(True for _ in module.children()) or bool(_own_parameters(module))


def _own_parameters(module):
    return list(module.parameters(recurse=False))


def _is_passed_by_activation(layer):
    name = type(layer).__name__
    return name in _ACTIVATION_MODULES or any(part in name for part in _PASSED_BY_ACTIVATION)


def _activation_mode(saw):
    """Hears torch's activation functions, where torch can tell (1.13 and later)."""
    try:
        from torch.overrides import TorchFunctionMode
    except ImportError:
        return contextlib.nullcontext()

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            name = getattr(func, "__name__", "").rstrip("_")
            if name in _ACTIVATION_FUNCTIONS:
                saw(name)
            return result

    return Mode()


def _layer_line(index, name, layer, inputs, output):
    parameters = _own_parameters(layer)
    return {
        "index": index,
        "name": name,
        "kind": type(layer).__name__,
        "input_shapes": [list(tensor.shape) for tensor in tensors_in(inputs)],
        "output_shapes": [list(tensor.shape) for tensor in tensors_in(output)],
        "parameters": sum(parameter.numel() for parameter in parameters),
        "dtype": dtype_name(parameters[0]) if parameters else None,
        "activation": None,
        "calls": 1,
    }


def module_line(name, module, layers):
    """One entry of `modules`: a module wrapped in DDP."""
    parameters = list(module.parameters())
    return {
        "name": name,
        "layers": layers,
        "parameters": sum(parameter.numel() for parameter in parameters),
        "parameter_bytes": bytes_by_dtype(parameters),
        "gradient_bytes": bytes_by_dtype(parameter for parameter in parameters if parameter.requires_grad),
        "buffer_bytes": sum(buffer.numel() * buffer.element_size() for buffer in module.buffers()),
    }


def bytes_by_dtype(tensors):
    total = {}
    for tensor in tensors:
        name = dtype_name(tensor)
        total[name] = total.get(name, 0) + tensor.numel() * tensor.element_size()
    return total


def dtype_name(tensor):
    return str(tensor.dtype).replace("torch.", "")


def tensors_in(value):
    """The tensors in nested tuples, lists and dictionaries, in order."""
    if hasattr(value, "element_size"):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return []
    return [tensor for each in value for tensor in tensors_in(each)]


def loss_of_graph(root):
    """The loss's name from the autograd graph's first nodes, else the name of its last operation; None for a leaf."""
    nodes = [root.grad_fn]
    for _ in range(_MAX_NODES_SEARCHED):
        node = nodes.pop(0) if nodes else None
        if node is None:
            continue
        below = [each for each, _ in node.next_functions]
        loss = _loss_of_node(node, below)
        if loss:
            return loss
        nodes.extend(below)
    return root.grad_fn.name() if root.grad_fn is not None else None


def _loss_of_node(node, below):
    loss = next((name for part, name in _LOSS_NODES.items() if node.name().startswith(part)), None)
    if loss == "nll" and _any_begins(below, "LogSoftmax"):
        return "cross_entropy"
    if loss is None and node.name().startswith("Mean") and _any_begins(below, "Abs"):
        return "l1"
    return loss


def _any_begins(nodes, name):
    return any(node is not None and node.name().startswith(name) for node in nodes)


def optimizer_line(optimizer):
    """An optimizer's kind and its plain settings, of the first parameter group."""
    settings = {}
    for key, value in optimizer.param_groups[0].items():
        if key != "params" and _is_plain(value):
            settings[key] = list(value) if isinstance(value, tuple) else value
    return {"kind": type(optimizer).__name__, "settings": settings}


def _is_plain(value):
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return value is not None


def unique_name(name, taken):
    """`name`, or name#2, name#3 ... where it is taken."""
    taken = set(taken)
    number, unique = 1, name
    while unique in taken:
        number += 1
        unique = "%s#%d" % (name, number)
    return unique


def device_line(torch, device, expected_kind):
    """The header's `device`; `device` is None while no module was seen."""
    kind = device.type if device is not None else expected_kind
    if kind == "cpu":
        return {"kind": kind, "name": _cpu_name(), "index": None}
    module = getattr(torch, kind, None)
    if device is None or not hasattr(module, "get_device_name"):
        return {"kind": kind, "name": None, "index": None}
    return {"kind": kind, "name": module.get_device_name(device.index), "index": device.index}


def _cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else None


def backend_name(torch):
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return None
    return torch.distributed.get_backend()
