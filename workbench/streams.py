"""Named random streams from one seed: adding a consumer never shifts another's numbers."""

from __future__ import annotations

import hashlib

import numpy as np


class Streams:
    """A family of independent random generators, one a name.

    The generator of a name depends on the seed and the name alone, so every policy of a comparison meets the same
    trace, and a new consumer leaves the others untouched.

    >>> a, b = Streams(7), Streams(7)
    >>> _ = a["sizes"].random()
    >>> bool(a["durations"].random() == b["durations"].random())
    True
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __getitem__(self, name: str) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, *_words(name)])))

    def integer(self, name: str) -> int:
        """A 63-bit whole number for a consumer that keeps its own compact generator."""
        return int(self[name].integers(1 << 63))


def _words(name: str) -> list[int]:
    digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
    return [int.from_bytes(digest[k : k + 4], "little") for k in range(0, 16, 4)]
