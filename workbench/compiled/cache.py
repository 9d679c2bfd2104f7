"""Where compiled code is kept on disk: a folder named after a digest of every source that compiled code can come from.

Numba notices an edit of the file that holds a function, not of a file that the function calls; with the digest in the
folder's name an engine never runs yesterday's policy. Rooms without compiled code are left out of the digest, so that
an edit of a figure does not cost a compilation; a kernel in such a room is refused.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from workbench.folders import cache_home

ROOMS = ("compiled", "structures", "policies", "engines", "metrics")
"""The rooms of this package that may hold compiled code."""


def may_be_kept(module: str) -> bool:
    """Return whether a module's compiled functions may be kept on disk: those of this package; a user's are compiled
    anew.

    >>> may_be_kept("workbench.structures.free_map"), may_be_kept("__main__")
    (True, False)

    Raises
    ------
    RuntimeError
        A room of this package holds compiled code without being part of the digest.
    """
    package, _, rest = module.partition(".")
    if package == "workbench" and rest.split(".")[0] not in ROOMS:
        raise RuntimeError(
            f"{module} compiles code, but its room is not part of the digest (compiled/cache.py, ROOMS)."
        )
    return package == "workbench"


def source_digest(root: Path) -> str:
    """Compute a digest of every Python source in the rooms that may hold compiled code, names and contents."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(path for room in ROOMS for path in (root / room).rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def cache_folder() -> Path:
    """Return the folder for this version of the sources, in the user's cache."""
    return cache_home() / source_digest(Path(__file__).parent.parent)
