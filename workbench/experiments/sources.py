"""What a process computes with: a driver and its workers must agree, or paired runs would not be pairs."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import platform
from pathlib import Path
from typing import NamedTuple

from workbench.errors import WorkbenchError

_ROOT = Path(__file__).parent.parent
_COMPUTES = ("numba", "llvmlite", "numpy", "scipy")
"""The packages whose version may show in the bits of a result."""


class Origin(NamedTuple):
    """What determines the bits of a run beside its setup and its seed."""

    sources: str
    versions: dict[str, str]
    """Python (major and minor) and the packages that compute."""


@functools.cache
def sources() -> str:
    """A digest of every source and data file of this package, as they were when this process first asked."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(p for p in _ROOT.rglob("*") if p.suffix in (".py", ".yaml")):
        digest.update(str(path.relative_to(_ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache
def origin() -> Origin:
    """What this process computes with."""
    python = ".".join(platform.python_version_tuple()[:2])
    return Origin(sources(), {"Python": python, **{name: importlib.metadata.version(name) for name in _COMPUTES}})


def differences(worker: Origin, driver: Origin) -> str:
    """What a worker has and the driver has otherwise, as part of a sentence; empty where they agree.

    >>> mine = Origin("8c", {"Python": "3.11", "numba": "0.68.1"})
    >>> differences(Origin("8c", {"Python": "3.11", "numba": "0.67.0"}), mine)
    'numba 0.67.0 (the driver: 0.68.1)'
    >>> differences(Origin("9d", {"Python": "3.12", "numba": "0.68.1"}), mine)
    'Python 3.12 (the driver: 3.11) and other sources of the workbench, 9d (the driver: 8c)'
    """
    said = [
        f"{name} {worker.versions.get(name)} (the driver: {version})"
        for name, version in driver.versions.items()
        if worker.versions.get(name) != version
    ]
    if worker.sources != driver.sources:
        said.append(f"other sources of the workbench, {worker.sources} (the driver: {driver.sources})")
    return " and ".join(said)


def check_origin(driver: Origin) -> None:
    """Refuse to work for a driver that computes with something else.

    Raises
    ------
    WorkbenchError
        They differ; the sentence names every difference.
    """
    if found := differences(origin(), driver):
        raise WorkbenchError(
            f"a worker has {found}; install the same versions everywhere, or start again if sources were edited "
            "while this ran."
        )
