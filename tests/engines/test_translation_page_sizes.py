"""Pages of several sizes and entries of ranges, against latencies and counts worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engines.translation_cases import latencies, simulate
from workbench.engines.translation import TranslationOptions
from workbench.engines.translation.page_table import Tags, drawn, first_of_runs, levels_saved
from workbench.errors import InputError
from workbench.machine.translation import TranslationMachine
from workbench.records.translation import TranslationRecord, events

PLAIN = {"locate": "no_directory", "fill": "demand_always"}
MACHINE = {"cores": 2, "private_entries": 4, "shared_entries": 16}
MIB, KIB = 1 << 20, 1 << 10
MIXED = [{"begin": 0, "end": 4 * MIB}, {"begin": 4 * MIB, "end": 5 * MIB, "page_bytes": 64 * KIB}]
"""Pages 0 to 1023 in two of 2 MiB, 1024 to 1279 in sixteen of 64 KiB, the rest as they are."""


def run(pages: list[int], machine: dict[str, Any] | None = None, **options: Any) -> TranslationRecord:
    """Access pages one after the other, 1,000 cycles apart."""
    rows = [(1000 * at, 0, page) for at, page in enumerate(pages)]
    return simulate(rows, {**MACHINE, **(machine or {})}, PLAIN, events=True, **options)


def by_range(*ranges: dict[str, int]) -> dict[str, Any]:
    return {"page_sizes": {"by_range": {"ranges": list(ranges)}}}


def test_a_large_page_has_one_entry_and_a_shorter_walk():
    record = run([5, 500, 513, 1024, 1039, 1040, 1280], **by_range(*MIXED))
    assert latencies(record) == [313, 1, 313, 413, 1, 413, 413]
    assert (record.walks, record.walk_levels) == (5, 3 + 3 + 4 + 4 + 4)


def test_the_log_names_the_first_page_of_an_entry():
    log = events(run([600, 1050, 1281], **by_range(*MIXED)))
    assert log["page"][log["kind"] == "fill"].tolist() == [512, 1040, 1281]
    assert log["page"][log["kind"] == "access"].tolist() == [600, 1050, 1281]


def test_sizes_share_upper_levels_in_the_walk_cache():
    """A page of 2 MiB leaves the levels above its own; its neighbours read below them, as large ones do."""
    ranges = {"begin": 0, "end": 2 * MIB}, {"begin": 6 * MIB, "end": 8 * MIB}
    record = run([5, 600, 1200, 601, 1600], {"walk_cache_entries": 8, "shared_entries": 0}, **by_range(*ranges))
    assert latencies(record) == [301, 201, 201, 101, 101]


def test_a_large_page_keeps_no_level_that_it_did_not_read():
    """Of a cache of two the large page keeps both levels above its own: the highest one serves a page far away."""
    record = run([5, 1 << 18], {"walk_cache_entries": 2, "shared_entries": 0}, **by_range({"begin": 0, "end": 2 * MIB}))
    assert latencies(record) == [301, 301]


@pytest.mark.parametrize(("size", "saved"), [(MIB, 0), (2 * MIB, 1), (512 * MIB, 1), (1 << 30, 2), (1 << 39, 3)])
def test_a_level_is_saved_for_each_factor_of_512(size, saved):
    assert levels_saved(size, 4096) == saved


def test_a_gibibyte_page_reads_two_levels_less():
    record = run([0, 1 << 17], **by_range({"begin": 0, "end": 1 << 30, "page_bytes": 1 << 30}))
    assert latencies(record) == [213, 1]


def test_sets_are_chosen_by_the_number_of_the_large_page():
    direct = {"private_entries": 2, "private_ways": 1, "shared_entries": 0}
    sizes = by_range({"begin": 0, "end": 8 * MIB})
    assert latencies(run([0, 512, 1, 513], direct, **sizes)) == [301, 301, 1, 1]
    assert latencies(run([0, 1024, 1, 1025], direct, **sizes)) == [301] * 4


def test_unmapping_a_page_unmaps_the_large_page_around_it():
    rows = [(0, 0, 5), (1000, 1, 7, True), (2000, 0, 9)]
    record = simulate(rows, MACHINE, PLAIN, events=True, **by_range(*MIXED))
    assert latencies(record) == [313, 313]


def test_two_cores_join_the_walk_of_one_large_page():
    record = simulate([(0, 0, 5), (5, 1, 300)], MACHINE, PLAIN, events=True, **by_range(*MIXED))
    assert (record.walks, record.walks_joined, latencies(record)) == (1, 1, [313, 308])


def test_ranges_in_any_order_are_the_same():
    pages = [5, 1030, 600, 1031, 1280]
    one, other = run(pages, **by_range(*MIXED)), run(pages, **by_range(*reversed(MIXED)))
    assert latencies(one) == latencies(other)


def test_a_machine_of_large_pages_is_a_range_of_all_addresses():
    """Pages of 2 MiB everywhere, walks of a level less: as a machine whose pages are that large."""
    pages = np.random.default_rng(1).integers(0, 40, 200).tolist()
    mixed = run([512 * page + page % 512 for page in pages], **by_range({"begin": 0, "end": 1 << 30}))
    large = run(pages, {"page_bytes": 2 * MIB, "walk_levels": 3})
    assert latencies(mixed) == latencies(large)
    assert (mixed.walks, mixed.walk_levels, mixed.evictions) == (large.walks, large.walk_levels, large.evictions)


# Ranges


def test_runs_begin_where_less_than_one_in_the_mean_is_drawn():
    """The golden ratio's multiples: 0, .618, .236, .854, .472, .090, .708, .326."""
    assert drawn(np.arange(8)).round(3).tolist() == [0, 0.618, 0.236, 0.854, 0.472, 0.09, 0.708, 0.326]
    assert first_of_runs(np.arange(8), 8, 2.0).tolist() == [0, 0, 2, 2, 4, 5, 5, 7]
    assert first_of_runs(np.array([7, 3, 3, 9]), 4, 1e9).tolist() == [4, 0, 0, 8]


def test_an_entry_covers_a_run():
    runs = {"pages_an_entry": 8, "contiguity": {"runs": 2.0}}
    record = run(list(range(8)), **runs)
    assert latencies(record) == [413, 1, 413, 1, 413, 413, 1, 413]
    log = events(record)
    assert log["page"][log["kind"] == "fill"].tolist() == [0, 2, 4, 5, 7]


def test_runs_of_one_page_are_no_ranges():
    pages = np.random.default_rng(2).integers(0, 30, 100).tolist()
    assert latencies(run(pages, pages_an_entry=8, contiguity={"runs": 1.0})) == latencies(run(pages))


def test_runs_without_an_end_are_whole_groups():
    """No page below 500 is drawn below 1 / 512 but those that begin a group of 16 anyway."""
    pages = [page for page in range(400) if page % 16 == 0 or drawn(np.array([page]))[0] >= 1 / 512]
    assert len(pages) > 395
    options = TranslationOptions(pages_an_entry=16, contiguity={"runs": 512.0})
    tags = Tags(TranslationMachine(), options).of(np.array(pages))
    assert sum(tag < 1 << 44 for tag in tags.tolist()) > 390


@pytest.mark.parametrize("mean", [1.0, 3.0, 40.0])
@pytest.mark.parametrize("group", [2, 8, 512])
def test_tags_of_runs_come_back_as_their_first_pages(group, mean):
    pages = np.concatenate([np.arange(2000), (1 << 47) + np.arange(500)])
    tags = Tags(TranslationMachine(), TranslationOptions(pages_an_entry=group, contiguity={"runs": mean}))
    first = first_of_runs(pages, group, mean)
    assert (tags.first_pages(tags.of(pages)) == first).all()
    assert len(np.unique(tags.of(pages))) == len(np.unique(first))
    assert (tags.of(pages) % 2 == pages // group % 2).all()


def test_tags_of_all_kinds_are_apart():
    options = TranslationOptions(pages_an_entry=4, contiguous_share=0.5, **by_range(*MIXED))
    tags, pages = Tags(TranslationMachine(), options), np.arange(3000)
    first = tags.first_pages(tags.of(pages))
    assert ((pages - first >= 0) & (pages - first < 512)).all()
    assert len(np.unique(tags.of(pages))) == len(np.unique(first))
    assert tags.of(np.array([513, 1040])).tolist() == [1 + (2 << 59), 65 + (1 << 59)]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([{"begin": 0, "end": 4096}], r"ranges\[0\]\.end must be a multiple of page_bytes \(2097152\)"),
        ([{"begin": 2 * MIB, "end": 2 * MIB}], r"ranges\[0\]\.end must be above begin \(2097152\)"),
        ([{}, {"begin": 2 * MIB}], r"by_range\.ranges must not overlap\. Got one that ends at 1073741824 and one"),
    ],
)
def test_ranges_that_are_none(given, sentence):
    with pytest.raises(InputError, match=sentence):
        TranslationOptions(page_sizes={"by_range": {"ranges": given}})


def test_four_sizes_are_too_many():
    ranges = [{"begin": k << 32, "end": (k + 1) << 32, "page_bytes": 8192 << k} for k in range(4)]
    with pytest.raises(InputError, match=r"must have 3 sizes of pages at most"):
        TranslationOptions(page_sizes={"by_range": {"ranges": ranges}})


def test_runs_have_no_share_of_groups():
    with pytest.raises(InputError, match=r"contiguous_share must be 1 with contiguity: runs.* Got 0\.5\. Nearest: 1\."):
        TranslationOptions(contiguity="runs", contiguous_share=0.5)
