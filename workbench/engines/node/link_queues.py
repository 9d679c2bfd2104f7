"""Transfers in order: as they began or entered, by what they have left, by what is due at a cycle."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.engines.node.link_state import COUNT, NONE, OF, Links


@kernel
def append(links: Links, way: int, which: int, slot: int) -> None:
    """Put a transfer at the end of a list of its way."""
    rows, lists = links.rows, links.lists
    before, after = lists[way, which + 1], NONE
    rows[slot, OF.before], rows[slot, OF.after] = before, after
    lists[way, which + 1] = slot
    if before == NONE:
        lists[way, which] = slot
    else:
        rows[before, OF.after] = slot


@kernel
def unlink(links: Links, way: int, which: int, slot: int) -> None:
    """Take a transfer out of a list of its way."""
    rows, lists = links.rows, links.lists
    before, after = rows[slot, OF.before], rows[slot, OF.after]
    if before == NONE:
        lists[way, which] = after
    else:
        rows[before, OF.after] = after
    if after == NONE:
        lists[way, which + 1] = before
    else:
        rows[after, OF.before] = before


@kernel
def put_in(links: Links, way: int, slot: int) -> None:
    """Put a transfer into the heap of its way."""
    links.held[way] += 1
    _sift_up(links, way, links.held[way] - 1, slot)


@kernel
def _sift_up(links: Links, way: int, at: int, slot: int) -> None:
    rows, heap = links.rows, links.heap[way]
    while at > 0 and rows[slot, OF.target] < rows[heap[(at - 1) // 2], OF.target]:
        heap[at] = heap[(at - 1) // 2]
        rows[heap[at], OF.place] = at
        at = (at - 1) // 2
    heap[at] = slot
    rows[slot, OF.place] = at


@kernel
def take_out(links: Links, way: int, slot: int) -> None:
    """Take a transfer out of the heap of its way, wherever it stands."""
    rows, heap, at = links.rows, links.heap[way], links.rows[slot, OF.place]
    links.held[way] -= 1
    rows[slot, OF.place] = NONE
    last = heap[links.held[way]]
    if last == slot:
        return
    while True:
        child = 2 * at + 1
        if child + 1 < links.held[way] and rows[heap[child + 1], OF.target] < rows[heap[child], OF.target]:
            child += 1
        if child >= links.held[way] or rows[heap[child], OF.target] >= rows[last, OF.target]:
            break
        heap[at] = heap[child]
        rows[heap[at], OF.place] = at
        at = child
    _sift_up(links, way, at, last)


@kernel
def _goes_before(rows: np.ndarray, one: int, other: int) -> bool:
    """Return whether something happens to a transfer before it does to another, at the same cycle."""
    if rows[one, OF.high] != rows[other, OF.high]:
        return bool(rows[one, OF.high] < rows[other, OF.high])
    if rows[one, OF.low] != rows[other, OF.low]:
        return bool(rows[one, OF.low] < rows[other, OF.low])
    return bool(rows[one, OF.order] < rows[other, OF.order])


@kernel
def put_due(links: Links, slot: int) -> None:
    """Put a transfer on the heap of what happens at this cycle."""
    rows, due, at = links.rows, links.due, links.counters[COUNT.due]
    links.counters[COUNT.due] += 1
    while at > 0 and _goes_before(rows, slot, due[(at - 1) // 2]):
        due[at] = due[(at - 1) // 2]
        at = (at - 1) // 2
    due[at] = slot


@kernel
def take_due(links: Links) -> int:
    """Take the first transfer off the heap of what happens at this cycle."""
    rows, due, at = links.rows, links.due, 0
    result = due[0]
    links.counters[COUNT.due] -= 1
    count = links.counters[COUNT.due]
    last = due[count]
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and _goes_before(rows, due[child + 1], due[child]):
            child += 1
        if not _goes_before(rows, due[child], last):
            break
        due[at] = due[child]
        at = child
    due[at] = last
    return int(result)
