"""Entries of the shared TLB that are predicted dead, against what counters and list say step by step."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines.translation_cases import latencies, simulate
from workbench.errors import InputError
from workbench.metrics.translation import measure

PLAIN = {"locate": "no_directory", "fill": "demand_always"}
ONE = {"cores": 1, "private_entries": 1, "shared_entries": 1}
"""Each access to another page than the last one asks the shared TLB, which holds one page."""
WALK, SHARED = 413, 13


def asked(pages: list[int], machine: dict[str, Any] | None = None, **levers: int) -> list[int]:
    """Return the latencies of accesses one after the other."""
    rows = [(1000 * at, 0, page) for at, page in enumerate(pages)]
    bypass = {"dead_entries": {"threshold": 1, "counters": 1, "remembered": 2, **levers}}
    return latencies(simulate(rows, machine or ONE, PLAIN, events=True, bypass=bypass))


def test_counters_and_list_step_by_step():
    """2 makes 1 leave unused, so 3 is bypassed and 2 is found; 3 was remembered, so it is made the next time.

    Then 2 was used when it left; 3 was not when 2 comes back, so 4 is bypassed.
    """
    assert asked([1, 2, 3, 2, 3, 2, 4, 2]) == [WALK, WALK, WALK, SHARED, WALK, WALK, WALK, SHARED]


def test_entries_that_are_not_made_are_counted():
    """Of the case above: 3 is bypassed once, 4 once; of 8 accesses that is a quarter."""
    rows = [(1000 * at, 0, page) for at, page in enumerate([1, 2, 3, 2, 3, 2, 4, 2])]
    bypass = {"dead_entries": {"threshold": 1, "counters": 1, "remembered": 2}}
    record = simulate(rows, ONE, PLAIN, bypass=bypass)
    assert (record.walks, record.bypassed_entries) == (6, 2)
    assert measure(record)["bypassed_entries_per_kilo"] == 250
    assert simulate(rows, ONE, PLAIN).bypassed_entries == 0


def test_without_a_list_a_wrong_prediction_stays():
    assert asked([1, 2, 3, 2, 3, 2, 3, 2], remembered=0) == [WALK, WALK, WALK, SHARED] + [WALK, SHARED] * 2


def test_a_higher_threshold_learns_later():
    """1, 2 and 3 leave unused; with threshold 3 the first page that is bypassed is 5."""
    assert asked([1, 2, 3, 4, 5, 4], threshold=3) == [WALK] * 5 + [SHARED]
    assert asked([1, 2, 3, 4, 5, 4], threshold=4) == [WALK] * 6


def test_regions_have_counters_of_their_own():
    """Pages 0 and 1 have one counter, 2 and 3 another: 3 is made although 0 left unused, and 5 shares 0's and 1's."""
    of_two = {"region_pages": 2, "counters": 2}
    assert asked([0, 3, 2, 3], **of_two) == [WALK] * 4
    assert asked([0, 3, 5, 3], **of_two) == [WALK, WALK, WALK, SHARED]


def test_the_oldest_leaves_a_list_that_is_full():
    """3, 4 and 5 are bypassed; of a list of two 3 is forgotten, so it is bypassed again."""
    pages = [1, 2, 3, 4, 5, 3, 2]
    assert asked(pages)[-1] == SHARED
    assert asked(pages, remembered=3)[-1] == WALK


def test_a_page_that_is_on_the_list_is_not_put_there_twice():
    """Two walks of page 4 end together, both bypassed: 3 stays on the list of two, is made the next time, and found."""
    first = [(1000 * at, 0, page) for at, page in enumerate([1, 2, 3, 4])]
    rows = [*first, (3000, 1, 4), (4000, 0, 3), (5000, 1, 3)]
    bypass = {"dead_entries": {"threshold": 1, "counters": 1, "remembered": 2}}
    record = simulate(rows, {**ONE, "cores": 2}, PLAIN, events=True, bypass=bypass, merge_walks=False)
    assert latencies(record) == [WALK] * 6 + [SHARED]


def test_a_stream_leaves_a_loop_alone():
    """A loop of two pages, each followed by a page of a stream: three come between two uses, and three fit.

    The stream's region is bypassed after two pages, so the loop stays.
    """
    pages = [page for at in range(40) for page in (at % 2, 64 + at)]
    small = {**ONE, "shared_entries": 3}
    plain = latencies(simulate([(1000 * at, 0, page) for at, page in enumerate(pages)], small, PLAIN, events=True))
    assert plain.count(SHARED) == 0
    assert asked(pages, small, counters=64, region_pages=64, threshold=2)[20:] == [SHARED, WALK] * 30


def test_neither_inclusive_nor_nothing_may_be_bypassed():
    with pytest.raises(InputError, match=r"options\.bypass must be never where there is no shared TLB"):
        asked([1], {**ONE, "shared_entries": 0})
    with pytest.raises(InputError, match=r"options\.bypass must be never where the shared TLB is inclusive"):
        simulate([(0, 0, 1)], ONE, PLAIN, bypass="dead_entries", inclusive=True)
