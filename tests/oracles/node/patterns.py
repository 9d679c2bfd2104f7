"""Which pages of a tensor a group touches, and which of them are simulated (spec 6, R7)."""

from __future__ import annotations

from tests.oracles.node.description import Touch
from tests.oracles.node.draws import zipf


def touched(touch: Touch, pages: int, group: int, groups: int, seed: int, *path: int) -> list[int]:
    """Return the page numbers of a touch, in the order of the touch."""
    first, last = group * pages // groups, -(-(group + 1) * pages // groups) - 1
    if touch.pattern == "slice":
        return list(range(first, last + 1))
    if touch.pattern == "halo":
        return list(range(max(first - touch.halo, 0), min(last + touch.halo, pages - 1) + 1))
    if touch.pattern == "shared":
        return list(range(pages))
    if touch.pattern == "stride":
        return [(group + k * touch.stride) % pages for k in range(touch.count)]
    if touch.pattern == "gather":
        return list(dict.fromkeys(zipf(touch.count, pages, touch.skew, seed, *path)))
    raise ValueError(f"a pattern is slice, halo, shared, stride or gather. Got {touch.pattern}.")


def simulated(pages: list[int], limit: int) -> list[int]:
    """Return the pages that stand for all: floor(iP / L) for i < L, or all of them where there is no limit."""
    if not limit or limit >= len(pages):
        return pages
    return [pages[i * len(pages) // limit] for i in range(limit)]


def shares(total: int, parts: int) -> list[int]:
    """Return a whole number in equal parts; the first ones are one larger."""
    return [total // parts + (i < total % parts) for i in range(parts)]
