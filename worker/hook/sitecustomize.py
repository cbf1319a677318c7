"""Python runs this at start-up: it puts a measured training's processes under foretrain's watch.

The folder of this file stands first on PYTHONPATH while a training is measured, so that ranks which the
script spawns itself and the loader's workers are reached too. Without FORETRAIN_SPEC it does nothing.
"""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_hidden_sitecustomize():
    """Run the sitecustomize that this one hides (a distribution's, or the user's own)."""
    path = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_run_hidden_sitecustomize()

if os.environ.get("FORETRAIN_SPEC"):
    sys.path.append(os.path.dirname(_HERE))
    from foretrain_worker import install

    install.install()
