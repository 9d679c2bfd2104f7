"""Which bytes of a tensor a group touches, on which pages they lie, in which lines (spec 6, R7): by lists and sets."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence

from tests.oracles.node.description import Touch
from tests.oracles.node.draws import permuted, zipf


def touched(touch: Touch, size: int, group: int, groups: int, seed: int, *path: int, tensor: int = 0) -> list[range]:
    """Return the bytes of a touch of a tensor of so many, in the order of use; the path begins with the application."""
    if touch.pattern == "shared":
        return [range(size)]
    if touch.pattern in ("slice", "halo"):
        wider = touch.halo if touch.pattern == "halo" else 0
        return [range(max(group * size // groups - wider, 0), min((group + 1) * size // groups + wider, size))]
    element = touch.element_bytes
    if touch.pattern == "stride":
        begins = [(group + k * touch.stride) * element % size for k in range(touch.count)]
    elif touch.pattern == "gather":
        things = -(-size // element)
        ranks = zipf(touch.count, things, touch.skew, seed, *path)
        begins = [permuted(rank, things, seed, path[0], -1, tensor) * element for rank in ranks]
    else:
        raise ValueError(f"a pattern is slice, halo, shared, stride or gather. Got {touch.pattern}.")
    return [range(begin, min(begin + element, size)) for begin in begins]


def pages_of(spans: list[range], sizes: Sequence[int]) -> list[int]:
    """Return the pages that hold one of the bytes, in the order of first use; `sizes` are those of all pages."""
    begins = [0, *itertools.accumulate(sizes)]
    pages: dict[int, None] = {}
    for span in (one for one in spans if one):
        first, last = (bisect.bisect_right(begins, byte) - 1 for byte in (span[0], span[-1]))
        pages |= dict.fromkeys(range(first, last + 1))
    return list(pages)


def lines_of(spans: list[range], line: int) -> set[int]:
    """Return the lines that hold one of the bytes."""
    return {number for span in spans if span for number in range(span[0] // line, span[-1] // line + 1)}


def moved(spans: list[range], sizes: Sequence[int], limit: int, line: int, stated: int | None) -> list[tuple[int, int]]:
    """Return the simulated pages of a touch, and the bytes that each stands for."""
    pages, lines = pages_of(spans, sizes), lines_of(spans, line)
    chosen = simulated(pages, limit)
    if stated is None and len(chosen) == len(pages):
        begins = [0, *itertools.accumulate(sizes)]
        return [(n, line * sum(begins[n] <= at * line < begins[n + 1] for at in lines)) for n in pages]
    whole = line * len(lines) if stated is None else stated
    return list(zip(chosen, shares(whole, len(chosen)))) if chosen else []


def simulated(pages: list[int], limit: int) -> list[int]:
    """Return the pages that stand for all: floor(iP / L) for i < L, or all of them where there is no limit."""
    if not limit or limit >= len(pages):
        return pages
    return [pages[i * len(pages) // limit] for i in range(limit)]


def shares(total: int, parts: int) -> list[int]:
    """Return a whole number in equal parts; the first ones are one larger."""
    return [total // parts + (i < total % parts) for i in range(parts)]
