"""Hash tables by open addressing: from whole numbers to whole numbers, and from pages to short numbers.

Several tables lie in one pair of arrays, each a power of two and at most half full. A key lies at the first free place
from its home on, in a circle. When one is taken out, those behind it move up, so a look-up ends at the first free
place.
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
    """Return the place of a key if nothing is in its way: its bits folded, so that neighbors stay neighbors."""
    return (key ^ (key >> 9) ^ (key >> 20) ^ (key >> 33)) & mask


CLOSE = 1 << 13
"""Places of a table in which neighbors may all lie together: taking a key out reads its whole run of places."""


@kernel
def place_of(key: int, mask: int) -> int:
    """Return the home of a key whose table also loses keys: in a large one, eight neighbors lie together."""
    if mask < CLOSE:
        return home(key, mask)
    group = key >> 3
    # 31 bits times 32 bits: the product fits in a signed 64-bit number.
    mixed = ((group ^ (group >> 31)) & 0x7FFFFFFF) * 0x9E3779B1
    return (((mixed >> 20) << 3) | (key & 7)) & mask


@kernel
def look_up(index: KeyIndex, table: int, key: int) -> int:
    """Return the value of a key, or -1."""
    first, mask = index.first[table], index.mask[table]
    place = place_of(key, mask)
    while index.keys[first + place] != key:
        if index.keys[first + place] == ABSENT:
            return ABSENT
        place = (place + 1) & mask
    return int(index.values[first + place])


@kernel
def put_key(index: KeyIndex, table: int, key: int, value: int) -> None:
    """Enter a key that is not in the table."""
    first, mask = index.first[table], index.mask[table]
    place = place_of(key, mask)
    while index.keys[first + place] != ABSENT:
        place = (place + 1) & mask
    index.keys[first + place] = key
    index.values[first + place] = value


@kernel
def take_key(index: KeyIndex, table: int, key: int) -> None:
    """Take out a key that is in the table."""
    first, mask = index.first[table], index.mask[table]
    hole = place_of(key, mask)
    while index.keys[first + hole] != key:
        hole = (hole + 1) & mask
    place = hole
    while True:
        place = (place + 1) & mask
        moved = index.keys[first + place]
        if moved == ABSENT:
            break
        # A key whose home lies behind the hole stays: a look-up would not find it in front of its home.
        if ((place - place_of(moved, mask)) & mask) >= ((place - hole) & mask):
            index.keys[first + hole], index.values[first + hole] = moved, index.values[first + place]
            hole = place
    index.keys[first + hole] = ABSENT


NEAR = 1 << 20
"""Pages that are found in the plain table."""


class PageNumbers(NamedTuple):
    """The arrays of one numbering: pages have the numbers 0, 1, 2, ... in the order in which they appear.

    So tables by page stay small. Pages below 2**20 are found in a plain table, all others by open addressing; both grow
    between blocks.
    """

    near: np.ndarray
    """int32[2**20], the number of each low page, -1 = none yet."""
    keys: np.ndarray
    """int64[places], the other pages by open addressing, -1 = free."""
    numbers: np.ndarray
    """int32[places], their numbers."""
    pages: np.ndarray
    """int64[room], the page of each number."""
    given: np.ndarray
    """int64[2]: how many numbers are given, how many of them by open addressing."""


def new_page_numbers(room: int) -> PageNumbers:
    """Make a numbering without a page, with space for so many."""
    near = np.full(NEAR, np.int32(ABSENT))
    places = np.full(64, ABSENT)
    return PageNumbers(near, places, places.astype(np.int32), np.zeros(room, np.int64), np.zeros(2, np.int64))


@kernel
def has_room(table: PageNumbers) -> bool:
    """Return whether there is space for one page more."""
    return bool(table.given[0] < table.pages.size and 2 * (table.given[1] + 1) <= table.keys.size)


def with_room(table: PageNumbers, more: int) -> PageNumbers:
    """Return the same numbering with space for so many pages more, at least twice as large where it must grow."""
    count, far = table.given.tolist()
    if count + more > table.pages.size:
        table = table._replace(pages=_longer(table.pages, count + more))
    if 2 * (far + more) > table.keys.size:
        # A quarter full at most, so that it does not grow again soon.
        places = 1 << (4 * (far + more)).bit_length()
        keys, numbers = np.full(places, ABSENT), np.full(places, ABSENT, np.int32)
        _rehash(table.keys, table.numbers, keys, numbers)
        table = table._replace(keys=keys, numbers=numbers)
    return table


def renumbered(table: PageNumbers, kept: np.ndarray) -> PageNumbers:
    """Return a numbering of some of its pages, in their order: bool[numbers given]; the space stays."""
    pages = table.pages[: kept.size].copy()
    table.near[pages[(pages >= 0) & (pages < NEAR)]] = ABSENT
    table.keys[:], table.given[:] = ABSENT, 0
    number_pages(table, pages[kept], np.empty(int(kept.sum()), np.int32))
    return table


def _longer(pages: np.ndarray, least: int) -> np.ndarray:
    longer = np.zeros(max(least, 2 * pages.size), np.int64)
    longer[: pages.size] = pages
    return longer


@kernel
def number_pages(table: PageNumbers, pages: np.ndarray, numbers: np.ndarray) -> None:
    """Number the pages of a block, new ones in the order of the block; there must be space."""
    for row in range(pages.size):
        numbers[row] = number_of(table, pages[row])


@kernel
def number_of(table: PageNumbers, page: int) -> int:
    """Return the number of a page, a new one where it has none; there must be space."""
    if page < 0 or page >= NEAR:
        return _far_number(table, page)
    number = int(table.near[page])
    if number == ABSENT:
        number = _next_number(table, page)
        table.near[page] = number
    return number


@kernel
def known_number(table: PageNumbers, page: int) -> int:
    """Return the number of a page, -1 where it has none."""
    if 0 <= page < NEAR:
        return int(table.near[page])
    mask = table.keys.size - 1
    place = home(page, mask)
    while table.keys[place] != page:
        if table.keys[place] == ABSENT:
            return ABSENT
        place = (place + 1) & mask
    return int(table.numbers[place])


@kernel
def _next_number(table: PageNumbers, page: int) -> int:
    number = table.given[0]
    table.pages[number] = page
    table.given[0] += 1
    return number


@kernel
def _far_number(table: PageNumbers, page: int) -> int:
    mask = table.keys.size - 1
    place = home(page, mask)
    while table.keys[place] != page:
        if table.keys[place] == ABSENT:
            table.keys[place] = page
            table.numbers[place] = _next_number(table, page)
            table.given[1] += 1
            break
        place = (place + 1) & mask
    return int(table.numbers[place])


@kernel
def _rehash(old_keys: np.ndarray, old_numbers: np.ndarray, keys: np.ndarray, numbers: np.ndarray) -> None:
    mask = keys.size - 1
    for old in range(old_keys.size):
        if old_keys[old] != ABSENT:
            place = home(old_keys[old], mask)
            while keys[place] != ABSENT:
                place = (place + 1) & mask
            keys[place], numbers[place] = old_keys[old], old_numbers[old]
