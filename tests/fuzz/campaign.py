"""Mutations of a reader's corpus, by number or by time; what faults one finds becomes a file."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.fuzz.mutations import mutated
from tests.fuzz.readers import CRASHES, corpus, fault


def mutations(reader: str, seed: int) -> Iterator[bytes]:
    """Mutations of a reader's files without end; the same for a seed and a corpus."""
    files = [file.read_bytes() for file in corpus(reader)]
    rng = np.random.default_rng([seed, *reader.encode()])
    while True:
        one, other = (files[int(rng.integers(len(files)))] for _ in range(2))
        yield mutated(one, other, rng)


def faults(reader: str, folder: Path, seed: int, count: int | None = None, seconds: float = 0.0) -> Iterator[str]:
    """The faults that so many mutations, or those of so many seconds, find; each with the file that is kept of it."""
    place, until = folder / "mutated", time.monotonic() + seconds
    for number, content in enumerate(mutations(reader, seed)):
        if number == count or (count is None and time.monotonic() > until):
            return
        place.write_bytes(content)
        message = fault(reader, place)
        if message:
            yield f"{keep(reader, content, folder)}: {message}"


def keep(reader: str, content: bytes, folder: Path) -> Path:
    """Write what a reader failed on into a folder, by the digest of its contents."""
    file = folder / f"{reader}-{hashlib.sha256(content).hexdigest()[:12]}"
    file.write_bytes(content)
    return file


def crashes() -> list[Path]:
    """The files that a campaign once found."""
    return sorted(file for file in CRASHES.iterdir() if file.suffix != ".md")
