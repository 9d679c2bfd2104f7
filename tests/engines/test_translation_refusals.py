"""What the engine `translation` refuses, in one sentence; what recording changes: nothing; and a run from a sweep."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.engines.test_translation_load import same
from tests.engines.translation_cases import DrawnPages, simulate
from workbench.errors import InputError, PolicyError
from workbench.metrics.translation import MEASURES
from workbench.policies.translation import Directory, equal_area_entries
from workbench.policies.translation.eviction import Eviction
from workbench.policies.translation.fill import Fill
from workbench.policies.translation.peer import Peer
from workbench.records.translation import accesses, affinity, events

SMALL = {"cores": 4, "private_entries": 4, "shared_entries": 16}
KNOWS_ALL = {"locate": {"directory": {"scope": "oracle"}}}


class OutsideTheSet(Eviction):
    def answer(see):
        return see.first + see.ways


class AsksItself(Peer):
    def answer(see):
        return see.core


class PushesToItself(Fill):
    def answer(see):
        see.push[0] = see.core
        return 1


class RaisingFill(Fill):
    def answer(see):
        if see.held > 2:
            raise ValueError("too many")
        return 0


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([(0, 0, 1 << 36)], r"access 0 is to page 68719476736; addresses of the machine end at page 68719476735"),
        ([(0, 0, 1), (0, 4, 1)], r"access 1 is by core 4; the machine has cores 0 to 3"),
        ([(5, 0, 1), (4, 0, 1)], r"access 1 is at cycle 4, before the one before it"),
    ],
)
@pytest.mark.parametrize("cuts", [[], [1]])
def test_rows_that_do_not_fit_the_machine(rows, sentence, cuts):
    with pytest.raises(InputError, match=sentence):
        simulate(rows, SMALL, cuts=cuts)


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (
            {"eviction": {"sharing_aware_eviction": {"share_threshold": 5}}},
            r"^policy\.eviction\.sharing_aware_eviction\.share_threshold must be at most cores \(4\)",
        ),
        ({"fill": {"push_pair": {"fill_threshold": 5}}}, r"fill_threshold must be at most private_entries \(4\)"),
        (
            {"remote_fill": {"threshold": {"threshold": 5}}},
            r"^policy\.remote_fill\.threshold\.threshold must be at most private_entries \(4\)",
        ),
        (
            {"locate": {"directory": {"scope": {"own_plus_affine": {"threshold": 5}}}}},
            r"^policy\.locate\.directory\.scope\.own_plus_affine\.threshold must be at most private_entries \(4\)",
        ),
        (
            {"locate": {"directory": {"entries": 3}}},
            r"^policy\.locate\.directory\.entries must be 0 .* at least private_entries \(4\)",
        ),
        ({"shared_eviction": "sharing_aware_eviction"}, r"shared_eviction must not be sharing_aware_eviction"),
    ],
)
def test_policies_that_do_not_fit_the_machine(policy, sentence):
    with pytest.raises(InputError, match=sentence):
        simulate([], SMALL, policy)


def test_more_private_entries_than_there_is_memory_for():
    sentence = r"^translation_machine\.private_entries must be at most 524,288 with 128 cores, .* Nearest: 524288\.$"
    with pytest.raises(InputError, match=sentence):
        simulate([], {"cores": 128, "private_entries": 1 << 20})


@pytest.mark.parametrize("ways", [0, 16])
def test_a_private_tlb_may_have_a_million_entries(ways):
    rows = [(1000 * at, 0, page) for at, page in enumerate((5, 1 << 20, 5, 1 << 20))]
    machine = {"cores": 1, "private_entries": 1 << 20, "private_ways": ways, "shared_entries": 0}
    record = simulate(rows, machine, {"eviction": "fifo"})
    assert (record.walks, record.evictions) == (2, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ({"eviction": OutsideTheSet()}, r"outside_the_set \(eviction\) answered an entry that is not in the set"),
        ({"shared_eviction": OutsideTheSet()}, r"outside_the_set \(shared_eviction\) answered an entry"),
        ({"peer": AsksItself(), **KNOWS_ALL}, r"asks_itself \(peer\) answered \d, which is none of the holders"),
        ({"fill": PushesToItself()}, r"pushes_to_itself \(fill\) answered \d, which is no number of cores"),
        (
            {"fill": RaisingFill()},
            r"raising_fill \(fill\) raised ValueError \(too many\) in .*, for core \d, .*; at cycle \d+, core \d",
        ),
    ],
)
def test_policies_that_break_their_contract_are_named(policy, sentence):
    with pytest.raises(PolicyError, match=sentence):
        simulate(DrawnPages(count=2000), SMALL, policy)


def test_recording_changes_nothing_and_tells_every_access():
    policy = {"locate": {"directory": {"scope": "oracle", "update": {"message": 9}}}}
    plain, kept = (simulate(DrawnPages(), SMALL, policy, events=reply) for reply in (False, True))
    same(plain, kept)
    log = events(kept)
    assert len(plain.log) == 0
    assert (log["kind"] == "access").sum() == accesses(kept) == 400
    assert (np.diff(log["cycle"]) >= 0).all()
    held = {"fill": 1, "push": 1, "evict": -1, "invalidate": -1, "access": 0}
    for core in range(4):
        entries = np.cumsum([held[kind] for kind in log["kind"][log["core"] == core]])
        assert entries.min() >= 0 and entries.max() <= 4


def test_what_an_access_brings_about_stands_at_its_own_cycle():
    machine, policy = {"cores": 1, "private_entries": 1}, {"locate": "no_directory", "fill": "demand_always"}
    log = events(simulate([(0, 0, 1), (1000, 0, 2)], machine, policy, events=True))
    assert log["kind"].tolist() == ["access", "fill", "access", "evict", "fill"]
    assert log["cycle"].tolist() == [0, 413, 1000, 1413, 1413]


def test_ways_of_a_tlb_that_there_is_not_are_nothing():
    """A machine without shared TLB that stated its ways ended with a division by zero."""
    machines = ({**SMALL, "shared_entries": 0, "shared_ways": ways, "middle_ways": ways} for ways in (0, 2))
    plain, stated = (simulate(DrawnPages(), machine) for machine in machines)
    same(plain, stated)


def test_an_empty_trace_is_a_run():
    assert accesses(simulate([])) == 0


def test_a_sweep_over_every_way_to_look_near_by():
    locate = ["no_directory", "directory", "central_directory", "ring_probe", "clustered"]
    sweep = {
        "engine": "translation",
        "machine": SMALL,
        "workload": {"synthetic": "drawn_pages", "count": 300},
        "policy": {"locate": {"vary": locate}, "fill": "demand_always"},
        "baseline": {"locate": "no_directory"},
        "seeds": 2,
        "measures": sorted(MEASURES),
    }
    results = wb.run(sweep, workers=1)
    assert not results.failures
    assert set(MEASURES) <= set(results.table.columns)
    one = results.table.set_index(["policy.locate", "seed"]).sort_index()
    assert one["near_hit_rate"].between(0, 1).all()
    assert (one["private_hit_rate"] + one["peer_hit_rate"] <= 1).all()


def test_the_pairs_of_a_record_are_an_affinity():
    rows = [(500 * t, core, page) for t, (page, core) in enumerate((p, c) for p in range(3) for c in (0, 2))]
    shares = affinity(simulate(rows, SMALL, {"fill": "demand_always"}))
    assert np.array_equal(shares, shares.T)
    assert shares[0].tolist() == [0, 0, 3, 0]


def test_equal_area_takes_no_more_bits_than_the_directory():
    for entries, records, ways in ((32, 0, 0), (32, 64, 4), (64, 128, 8)):
        more = equal_area_entries(Directory(entries=records), entries, ways, cores=16) - entries
        bits = (records or 2 * entries) * (36 + 16 + 1)
        assert more * 84 <= bits < (more + max(ways, 1)) * 84
