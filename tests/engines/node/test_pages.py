"""Pages of regions beside the twin's, and by hand (spec 6, R10, V4, E9, R19)."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from tests.oracles.node.pages import AddressSpace, Page, Run, granule_of, rounded
from tests.slow import seeds
from workbench.compiled import INTERPRETED
from workbench.engines.node.pages import (
    MODES,
    NEEDS_ROOM,
    Pages,
    close_mapping,
    map_run,
    new_pages,
    open_mapping,
    page_at,
    page_begin,
    page_bytes,
    page_tag,
    rounding_of,
    with_room,
)

pytestmark = pytest.mark.node

KIB, MIB = 1 << 10, 1 << 20
V4 = [("largest", 0, [2 * MIB] * 4), ("largest", 64 * KIB, [64 * KIB] * 31 + [2 * MIB] * 3 + [64 * KIB])]
V4 += [("4k", 0, [4 * KIB] * 2048), ("64k", 128 * KIB, [64 * KIB] * 128), ("neutral", 0, [2 * MIB] * 4)]


def sizes(pages: Pages, mapping: int) -> list[int]:
    return [page_bytes(pages, mapping, page) for page in range(pages.count[mapping])]


@pytest.mark.parametrize(("mode", "start", "expected"), V4)
def test_v4(mode: str, start: int, expected: list[int]) -> None:
    """A tensor of 8 MiB in pages of each mode."""
    pages = new_pages(1, 1, mode)
    open_mapping(pages, 0, 0, 8 * MIB)
    assert map_run(pages, 0, start, 8 * MIB) == len(expected)
    assert sizes(pages, 0) == expected


class FromStart(np.ndarray):
    """An array as compiled code has a lent one: an index below 0 is a place in front of it."""

    def __getitem__(self, index: Any) -> Any:
        assert not isinstance(index, (int, np.integer)) or index >= 0, f"row {index} lies before the table"
        return super().__getitem__(index)


@pytest.mark.parametrize("mode", MODES)
def test_the_first_stretch_of_all_has_none_before_it(mode: str) -> None:
    pages = new_pages(1, 1, mode)
    if INTERPRETED:
        pages = pages._replace(stretches=pages.stretches.view(FromStart))
    open_mapping(pages, 0, 0, 4 * MIB)
    assert map_run(pages, 0, 0, 2 * MIB) == {"4k": 512, "64k": 32}.get(mode, 1)
    assert (pages.used[0], pages.held[0], pages.mapped[0]) == (1, 1, 2 * MIB)


@pytest.mark.parametrize("mode", MODES)
def test_requests_are_rounded_to_whole_pages(mode: str) -> None:
    assert rounding_of(mode) == granule_of(mode)


def mapped(pages: Pages, mapping: int, application: int, asked: int, runs: list[Run]) -> Pages:
    """Map a region, with more room where that is wanting."""
    open_mapping(pages, mapping, application, asked)
    for run in runs:
        while map_run(pages, mapping, run.start, run.length) == NEEDS_ROOM:
            pages = with_room(pages, 2 * pages.stretches.shape[0])
    return pages


def runs_by_chance(random: Random, mode: str) -> tuple[int, list[Run]]:
    """Return bytes that are asked for, and runs of frames that hold them."""
    granule = rounding_of(mode)
    asked = random.choice([1, 5 * KIB, 300 * KIB, 3 * MIB, random.randrange(1, 12 * MIB)])
    left, runs, start = rounded(asked, granule), list[Run](), 0
    while left:
        length = min(left, granule * random.choice([1, 2, 16, 31, 600]))
        start += granule * random.choice([0, 1, 3, 16, 512, 700])
        runs.append(Run(random.randrange(3), start, length))
        left, start = left - length, start + length
    return asked, runs


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", seeds(3, 17))
def test_pages_are_those_of_the_twin(seed: int, mode: str) -> None:
    """Regions of two applications are mapped and unmapped; what is mapped has the twin's tags and sizes throughout."""
    random = Random(seed)
    pages, spaces = new_pages(30, 2, mode, room=6), [AddressSpace(0), AddressSpace(1)]
    alive: dict[int, list[Page]] = {}
    for mapping in range(30):
        application, (asked, runs) = random.randrange(2), runs_by_chance(random, mode)
        pages = mapped(pages, mapping, application, asked, runs)
        alive[mapping] = spaces[application].mapped(runs, mode)
        if random.random() < 0.6:
            gone = random.choice(list(alive))
            assert close_mapping(pages, gone) == len(alive.pop(gone))
        for number, expected in alive.items():
            check(pages, number, expected)


def check(pages: Pages, mapping: int, expected: list[Page]) -> None:
    """Compare some pages of a region: the first and the last, and a few between."""
    assert pages.count[mapping] == len(expected)
    begins = 0
    for number, page in enumerate(expected):
        if number % max(len(expected) // 5, 1) == 0 or number == len(expected) - 1:
            assert page_tag(pages, mapping, number) == page.tag
            assert page_bytes(pages, mapping, number) == page.size
            assert page_begin(pages, mapping, number) == begins
            assert [page_at(pages, mapping, begins + byte) for byte in (0, page.size - 1)] == [number, number]
        begins += page.size


def test_what_is_unmapped_makes_room() -> None:
    """A thousand regions of several stretches, of which two are mapped at a time, need no more room than these."""
    pages = new_pages(1000, 1, "largest", room=32)
    for mapping in range(1000):
        open_mapping(pages, mapping, 0, 3 * MIB)
        assert map_run(pages, mapping, 4 * KIB, 3 * MIB) > 0
        if mapping > 0:
            close_mapping(pages, mapping - 1)
    assert pages.stretches.shape[0] == 32
