"""Runs a function right after a module has been imported, so that the watch costs nothing before torch is there."""

import importlib.util
import os
import sys

ROOT_VARIABLE = "FORETRAIN_ROOT_PID"


class AfterImport:
    """A finder that lets the others find a module, and runs `actions[name](module)` once it was executed."""

    def __init__(self, actions):
        self.actions = dict(actions)

    def find_spec(self, name, path=None, target=None):
        action = self.actions.pop(name, None)
        if action is None:
            return None
        spec = self._find_with_others(name, path, target)
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return spec
        execute = spec.loader.exec_module

        def execute_then_act(module):
            execute(module)
            action(module)

        spec.loader.exec_module = execute_then_act
        return spec

    def _find_with_others(self, name, path, target):
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None


def install():
    """Arrange for the watch to begin when torch is imported in this process."""
    from foretrain_worker import refusals

    os.environ.setdefault(ROOT_VARIABLE, str(os.getpid()))
    actions = {"torch": _attach, "torch._dynamo.trace_rules": _keep_compiler_out}
    actions.update(refusals.ACTIONS)
    sys.meta_path.insert(0, AfterImport(actions))
    if is_root():
        from foretrain_worker import ending

        ending.watch_exit_of_root()


def is_root():
    """Whether this process is the one that the launcher started, not a child of it."""
    return os.environ.get(ROOT_VARIABLE) == str(os.getpid())


def _attach(_torch):
    from foretrain_worker import watch

    watch.attach()


def _keep_compiler_out(trace_rules):
    """torch.compile must not trace through the watch's wrappers, as it does not through torch's own."""
    if hasattr(trace_rules, "add"):
        trace_rules.add("foretrain_worker")
