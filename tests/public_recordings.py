"""Small recordings of others that lie in `tests/data/public`, each the file of the catalogue's entry to the byte."""

from __future__ import annotations

import hashlib
from pathlib import Path

from workbench.workloads.catalogue import catalogue

FOLDER = Path(__file__).parent / "data" / "public"


def recording(name: str) -> Path:
    """Return the file of an entry of the catalogue, whose digest is the entry's."""
    entry = catalogue()[name]
    path = FOLDER / Path(entry.file).name
    assert hashlib.sha256(path.read_bytes()).hexdigest() == entry.sha256, name
    return path
