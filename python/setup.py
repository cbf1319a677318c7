# With setup.cfg alone, rather than a pyproject.toml, pip installs without the package `wheel`, too.
from setuptools import setup

setup()
