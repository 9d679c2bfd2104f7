"""Tables from whole numbers to whole numbers by open addressing: several in one pair of arrays, each a power of two.

A key lies at the first free place from its home on, in a circle; when one is taken out, those behind it move up, so a
look-up ends at the first free place. A table is at most half full.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import kernel

ABSENT: Any = np.int64(-1)


class KeyIndex(NamedTuple):
    """The arrays of several tables."""

    keys: np.ndarray
    """int64[places], -1 = free."""
    values: np.ndarray
    """int32[places]."""
    first: np.ndarray
    """int64[tables], where each begins."""
    mask: np.ndarray
    """int64[tables], its places less one."""


def new_key_index(most: np.ndarray) -> KeyIndex:
    """Make empty tables for so many keys each: int64[tables]."""
    places = np.array([max(4, 1 << (2 * keys + 1).bit_length()) for keys in most.tolist()], np.int64)
    total = int(places.sum())
    return KeyIndex(np.full(total, ABSENT), np.full(total, ABSENT, np.int32), places.cumsum() - places, places - 1)


@kernel
def home(key: int, mask: int) -> int:
    """Return where a key lies if nothing is in its way: its bits folded, so that neighbours stay neighbours."""
    return (key ^ (key >> 9) ^ (key >> 20) ^ (key >> 33)) & mask


@kernel
def look_up(index: KeyIndex, table: int, key: int) -> int:
    """Return the value of a key, or -1."""
    first, mask = index.first[table], index.mask[table]
    place = home(key, mask)
    while index.keys[first + place] != key:
        if index.keys[first + place] == ABSENT:
            return ABSENT
        place = (place + 1) & mask
    return int(index.values[first + place])


@kernel
def put_key(index: KeyIndex, table: int, key: int, value: int) -> None:
    """Enter a key that is not in the table."""
    first, mask = index.first[table], index.mask[table]
    place = home(key, mask)
    while index.keys[first + place] != ABSENT:
        place = (place + 1) & mask
    index.keys[first + place] = key
    index.values[first + place] = value


@kernel
def take_key(index: KeyIndex, table: int, key: int) -> None:
    """Take out a key that is in the table."""
    first, mask = index.first[table], index.mask[table]
    hole = home(key, mask)
    while index.keys[first + hole] != key:
        hole = (hole + 1) & mask
    place = hole
    while True:
        place = (place + 1) & mask
        moved = index.keys[first + place]
        if moved == ABSENT:
            break
        if ((place - home(moved, mask)) & mask) >= ((place - hole) & mask):
            index.keys[first + hole], index.values[first + hole] = moved, index.values[first + place]
            hole = place
    index.keys[first + hole] = ABSENT
