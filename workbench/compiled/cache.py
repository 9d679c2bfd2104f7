"""Where compiled code is kept on disk: a folder named after a digest of all of the workbench's sources.

Numba notices an edit of the file that holds a function, not of a file that the function calls; with the digest in the
folder's name an engine never runs yesterday's policy.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from workbench.folders import cache_home


def source_digest(root: Path) -> str:
    """A digest of every Python source below a folder, names and contents."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def cache_folder() -> Path:
    """The folder for this version of the sources, in the user's cache."""
    return cache_home() / source_digest(Path(__file__).parent.parent)
