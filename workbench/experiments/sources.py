"""Which sources a process computes with: a driver and its workers must agree, or paired runs would not be pairs."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from workbench.errors import WorkbenchError

_ROOT = Path(__file__).parent.parent


@functools.cache
def sources() -> str:
    """A digest of every source and data file of this package, as they were when this process first asked."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(p for p in _ROOT.rglob("*") if p.suffix in (".py", ".yaml")):
        digest.update(str(path.relative_to(_ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def check_sources(expected: str) -> None:
    """Refuse to work for a driver that has other sources.

    Raises
    ------
    WorkbenchError
        They differ.
    """
    if sources() != expected:
        raise WorkbenchError(
            f"a worker has other sources of the workbench ({sources()}) than the driver ({expected}); "
            "install the same version everywhere, or start again if the sources were edited while this ran."
        )
