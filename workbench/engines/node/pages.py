"""Pages of the cards' memory, which map runs of frames (spec 6, R10, E9).

Runs of frames become pages at virtual addresses that are never used again, congruent to frames modulo 2 MiB, so that
the largest pages fit that the run's alignment and length allow. What is stored is not each page but each stretch of
pages of one size: five of them a run at most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel, routine
from workbench.engines.kit.faults import numbered

MODES = ("neutral", "4k", "64k", "2m", "largest")
"""How large pages are: 2 MiB without a look at frames; one size; the largest that a run allows (spec 6, R10)."""
NEEDS_ROOM = -2
"""Instead of the number of pages: the arrays must grow first."""
SHIFTS = (12, 16, 21)
"""Bits of an address within a page of each class: 4 KiB, 64 KiB, 2 MiB."""
_LARGEST = len(SHIFTS) - 1
_TWO_MIB = 1 << SHIFTS[_LARGEST]
BY_APPLICATION, BY_CLASS = 48, 44
"""Bits of a tag below which application and class of a page lie (N28)."""


class StretchFields(NamedTuple):
    """What is known of a stretch of pages of one size."""

    mapping: int
    first_page: int
    """Within its mapping."""
    begin: int
    """Bytes of the mapping before it."""
    address: int
    size: int
    """The class of its pages."""


STRETCH = numbered(StretchFields)
_WIDTH = len(StretchFields._fields)


class Pages(NamedTuple):
    """The pages of all regions that are mapped; a mapping is the number of a region."""

    fixed: int
    """The class of all pages; -1 = the largest that fit."""
    next_address: np.ndarray
    """int64[applications]."""
    count: np.ndarray  # type: ignore[assignment]
    """int64[mappings], pages; 0 = it is not mapped."""
    used_bytes: np.ndarray
    """int64[mappings], bytes that were asked for: those that are used."""
    application: np.ndarray
    mapped: np.ndarray
    """int64[mappings], bytes of its pages."""
    first: np.ndarray
    """int64[mappings], where its stretches begin."""
    held: np.ndarray
    """int64[mappings], stretches."""
    used: np.ndarray
    """int64[1], stretches of all mappings, those that were unmapped since the last clearing among them."""
    stretches: np.ndarray
    """int64[room, fields], those of each mapping in the order of its pages, mappings in the order of mapping."""


def new_pages(mappings: int, applications: int, mode: str, room: int = 64) -> Pages:
    """Return address spaces in which nothing is mapped.

    Parameters
    ----------
    mappings : int
        How many regions there may be.
    applications : int
        Each has addresses of its own, from 0 on.
    mode : str
        One of `MODES`.
    space : int
        Stretches of pages at a time.

    Examples
    --------
    >>> pages = new_pages(mappings=1, applications=1, mode="largest")
    >>> open_mapping(pages, 0, 0, 8 << 20)
    0
    >>> map_run(pages, 0, 64 << 10, 8 << 20), page_bytes(pages, 0, 0), page_bytes(pages, 0, 31)
    (35, 65536, 2097152)
    """
    columns = (np.zeros(mappings, np.int64) for _ in range(6))
    fixed = {"neutral": _LARGEST, "largest": -1}.get(mode, MODES.index(mode) - 1)
    addresses, used = np.zeros(applications, np.int64), np.zeros(1, np.int64)
    return Pages(fixed, addresses, *columns, used, np.zeros((room, _WIDTH), np.int64))  # type: ignore[call-arg]


def with_room(pages: Pages, room: int) -> Pages:
    """Return the same pages with space for so many stretches, not fewer than before."""
    stretches = np.zeros((room, _WIDTH), np.int64)
    stretches[: pages.stretches.shape[0]] = pages.stretches
    return pages._replace(stretches=stretches)


def rounding_of(mode: str) -> int:
    """Return the bytes to whose multiples requests are rounded up: whole pages, 4 KiB where these are the largest.

    >>> [rounding_of(mode) >> 10 for mode in MODES]
    [2048, 4, 64, 2048, 4]
    """
    return 1 << SHIFTS[{"neutral": _LARGEST, "largest": 0}.get(mode, MODES.index(mode) - 1)]


@routine
def open_mapping(pages: Pages, mapping: int, application: int, size: int) -> int:
    """Let a region of an application have pages from now on, for so many bytes that were asked for; return 0."""
    pages.application[mapping], pages.used_bytes[mapping] = application, size
    pages.count[mapping] = pages.mapped[mapping] = pages.held[mapping] = 0
    return 0


@routine
def map_run(pages: Pages, mapping: int, start: int, length: int) -> int:
    """Map a run of frames behind what a region has; runs of other regions come before or after all of its own.

    Parameters
    ----------
    start, length : int
        The first byte on its card, and bytes: whole pages, of which the first begins where such a page may.

    Returns
    -------
    pages : int
        How many the region has now; `NEEDS_ROOM` where nothing has been mapped.
    """
    # A run adds five stretches at most: sizes go up to the largest and down again.
    if pages.used[0] + 2 * len(SHIFTS) > pages.stretches.shape[0]:
        _clear(pages)
        if pages.used[0] + 2 * len(SHIFTS) > pages.stretches.shape[0]:
            return NEEDS_ROOM
    if pages.held[mapping] == 0:
        pages.first[mapping] = pages.used[0]
    application = pages.application[mapping]
    address = _congruent(pages.next_address[application], start)
    pages.next_address[application] = address + length
    end = address + length
    while address < end:
        size = pages.fixed if pages.fixed >= 0 else _largest_at(address, end)
        there = _stretch_end(address, end, size) if pages.fixed < 0 else end
        _put_stretch(pages, mapping, address, size, there)
        address = there
    return int(pages.count[mapping])


@routine
def close_mapping(pages: Pages, mapping: int) -> int:
    """Unmap all pages of a region; return how many there were."""
    count = pages.count[mapping]
    pages.count[mapping] = pages.held[mapping] = 0
    return int(count)


@routine
def page_tag(pages: Pages, mapping: int, page: int) -> int:
    """Return the number that tells a page from every other one of the node."""
    stretch = pages.stretches[_find_stretch(pages, mapping, page)]
    shift = _shift(stretch[STRETCH.size])
    number = (stretch[STRETCH.address] >> shift) + page - stretch[STRETCH.first_page]
    return int((pages.application[mapping] << BY_APPLICATION) + (stretch[STRETCH.size] << BY_CLASS) + number)


@routine
def page_bytes(pages: Pages, mapping: int, page: int) -> int:
    """Return the bytes of a page."""
    return 1 << _shift(pages.stretches[_find_stretch(pages, mapping, page), STRETCH.size])


@routine
def page_begin(pages: Pages, mapping: int, page: int) -> int:
    """Return the byte of a region at which a page begins."""
    stretch = pages.stretches[_find_stretch(pages, mapping, page)]
    return int(stretch[STRETCH.begin] + ((page - stretch[STRETCH.first_page]) << _shift(stretch[STRETCH.size])))


@routine
def page_at(pages: Pages, mapping: int, byte: int) -> int:
    """Return the page that holds a byte of a region."""
    low, high = pages.first[mapping], pages.first[mapping] + pages.held[mapping] - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if pages.stretches[middle, STRETCH.begin] <= byte:
            low = middle
        else:
            high = middle - 1
    stretch = pages.stretches[low]
    return int(stretch[STRETCH.first_page] + ((byte - stretch[STRETCH.begin]) >> _shift(stretch[STRETCH.size])))


@kernel
def _shift(size: int) -> int:
    """Return the bits of an address within a page of a class."""
    return 12 if size == 0 else 16 if size == 1 else 21


@kernel
def _congruent(address: int, start: int) -> int:
    """Return the first address from one on that is congruent to a frame modulo the largest page."""
    return address + ((start - address) & (_TWO_MIB - 1))


@kernel
def _largest_at(address: int, end: int) -> int:
    """Return the class of the largest page that begins at an address and ends within its run."""
    size = _LARGEST
    while size > 0 and (address & ((1 << _shift(size)) - 1) != 0 or address + (1 << _shift(size)) > end):
        size -= 1
    return size


@kernel
def _stretch_end(address: int, end: int, size: int) -> int:
    """Return the end of a stretch that begins with the largest page that fits: where a larger one fits, or none of its
    size does."""
    shift = _shift(size)
    last = address + ((end - address) >> shift << shift)
    if size == _LARGEST:
        return last
    above = 1 << _shift(size + 1)
    boundary = -(-address // above) * above
    return boundary if boundary > address and boundary + above <= end else last


@kernel
def _put_stretch(pages: Pages, mapping: int, address: int, size: int, end: int) -> None:
    """Add a stretch to a mapping, to the one before where it goes on."""
    shift, at = _shift(size), pages.used[0]
    goes_on = pages.held[mapping] > 0
    if goes_on:
        before = pages.stretches[at - 1]
        covered = pages.mapped[mapping] - before[STRETCH.begin]
        goes_on = before[STRETCH.size] == size and before[STRETCH.address] + covered == address
    if not goes_on:
        row = pages.stretches[at]
        row[STRETCH.mapping], row[STRETCH.first_page], row[STRETCH.begin] = (
            mapping,
            pages.count[mapping],
            pages.mapped[mapping],
        )
        row[STRETCH.address], row[STRETCH.size] = address, size
        pages.held[mapping] += 1
        pages.used[0] += 1
    pages.count[mapping] += (end - address) >> shift
    pages.mapped[mapping] += end - address


@kernel
def _find_stretch(pages: Pages, mapping: int, page: int) -> int:
    """Return the stretch of a mapping that holds a page."""
    low, high = pages.first[mapping], pages.first[mapping] + pages.held[mapping] - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if pages.stretches[middle, STRETCH.first_page] <= page:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def _clear(pages: Pages) -> None:
    """Move the stretches of what is still mapped together; of each mapping they stay side by side."""
    to, at = 0, 0
    while at < pages.used[0]:
        mapping = pages.stretches[at, STRETCH.mapping]
        # Elsewhere than at `first` lie stretches of a mapping that was closed, perhaps opened again.
        held = pages.held[mapping] if pages.first[mapping] == at else 0
        for k in range(held):
            for field in range(_WIDTH):
                pages.stretches[to + k, field] = pages.stretches[at + k, field]
        if held > 0:
            pages.first[mapping] = to
        to += held
        at += max(held, 1)
    pages.used[0] = to
