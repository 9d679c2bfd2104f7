"""Named random streams from one seed: adding a consumer never shifts another's numbers."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from workbench.errors import wrong_value

_UNIT = 2.0**-53
_SPARE_BITS = np.uint64(11)


class Streams:
    """A family of independent random generators, one a name.

    The generator of a name depends on the seed and the name alone, so every policy of a comparison meets the same
    trace, and a new consumer leaves the others untouched. Asked again for a name, it starts that stream again.

    Parameters
    ----------
    seed : int
        A whole number of at least 0, of any size.

    Examples
    --------
    >>> a, b = Streams(7), Streams(7)
    >>> _ = a["sizes"].random()
    >>> bool(a["durations"].random() == b["durations"].random())
    True
    """

    def __init__(self, seed: int) -> None:
        self.seed = _whole(seed)

    def __getitem__(self, name: str) -> np.random.Generator:
        return np.random.Generator(self._bits(name))

    def integer(self, name: str) -> int:
        """Draw a 63-bit whole number for a consumer that keeps its own compact generator."""
        return int(self._bits(name).random_raw()) >> 1

    def uniforms(self, name: str, count: int) -> np.ndarray:
        """Draw numbers of at least 0 and below 1: float64[count], each the upper 53 bits of one word of the stream.

        The n-th number does not depend on how many are drawn, and the words of PCG64 are the same on every machine
        and in every version of NumPy, which its distributions need not be (NumPy enhancement proposal 19).

        >>> Streams(7).uniforms("sizes", 3).tolist() == Streams(7).uniforms("sizes", 5)[:3].tolist()
        True
        """
        return self.flow(name)(count)

    def flow(self, name: str) -> Callable[[int], np.ndarray]:
        """Return the same numbers piece by piece: a function that gives the next `count` of them, however they are cut.

        >>> flow = Streams(7).flow("pages")
        >>> np.concatenate([flow(2), flow(3)]).tolist() == Streams(7).uniforms("pages", 5).tolist()
        True
        """
        bits = self._bits(name)
        return lambda count: (bits.random_raw(count) >> _SPARE_BITS) * _UNIT

    def within(self, name: str) -> Streams:
        """Return the streams whose names begin with another one's, for a consumer of which there are many.

        >>> inner = Streams(7).within("kernel 3")
        >>> bool(inner["mixes"].random() == Streams(7)["kernel 3/mixes"].random())
        True
        """
        return _Within(self.seed, name)

    def _bits(self, name: str) -> np.random.PCG64:
        key: Any = _Key(f"{self.seed:x}/{name}".encode())
        return np.random.PCG64(key)


class _Within(Streams):
    """Streams with the beginning of a name in front of each name."""

    def __init__(self, seed: int, first: str) -> None:
        super().__init__(seed)
        self._first = first

    def _bits(self, name: str) -> np.random.PCG64:
        return super()._bits(f"{self._first}/{name}")


class _Key(ISeedSequence):
    """Hands a generator the BLAKE2b digest of a text as its state.

    2 us a stream where SeedSequence's mixing takes 11 us: a run of 1,000 workgroups draws three streams.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        """Return the first words of the digest, the same on machines of either byte order."""
        kind = _little_endian(dtype)
        digest = hashlib.blake2b(self.text, digest_size=n_words * kind.itemsize).digest()
        return np.frombuffer(digest, kind).astype(dtype)


@functools.cache
def _little_endian(dtype: Any) -> np.dtype[Any]:
    return np.dtype(dtype).newbyteorder("<")


def _whole(seed: object) -> int:
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or seed.__index__() < 0:
        raise wrong_value("", "seed", "must be a whole number of at least 0", seed)
    return int(seed.__index__())
