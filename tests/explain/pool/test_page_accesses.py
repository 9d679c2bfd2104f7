"""A pool's run as pages: against a plain replay, through the file and the engine, and what idle limits do to TLBs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines.pool_cases import Case, crowd, line
from tests.oracles import pool_shootdowns as slow
from workbench.engines.translation import Translation
from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.explain.page_accesses import (
    CHURN,
    Touches,
    idle_limit_and_translation,
    pool_accesses,
    write_pool_accesses,
)
from workbench.metrics.translation import measure
from workbench.policies.pool import (
    ExpandableSegments,
    KeepAll,
    LeastRecentlyUsed,
    MigrateBack,
    MostFree,
    PytorchCaching,
)

KIB = 1 << 10
FEW = Touches(page_bytes=4 * KIB, accesses_per_mib=500.0, cores_per_card=4, clock_mhz=500.0)
NEVER, AT_ONCE = KeepAll(), LeastRecentlyUsed(limit_bytes_a_card=0)


def run(idle, first=400 * KIB, count=90, **policies):
    board = line(first, 300 * KIB, 800 * KIB, gbps=(12.0, 48.0))
    chosen = {"idle_release": idle, "target": MostFree(), **policies}
    return Case(crowd(5, 3, count, 90 * KIB, live=9), board, chosen, {"ipc_ns": 7}).simulate()


def test_what_a_region_leaves_when_it_moves_is_shot_down():
    record = run(NEVER, first=140 * KIB, count=250, residency=MigrateBack())
    accesses = pool_accesses(record, FEW)
    expected = slow.rows(record, 4 * KIB, 500.0, 4, 500.0, sorted(set(record.borrower.tolist())))
    rows = zip(
        accesses.cycle.tolist(), accesses.unmap.tolist(), accesses.core.tolist(), accesses.page.tolist(), strict=True
    )
    assert sorted(rows) == sorted(expected)
    assert len(record.moves) > 3 and accesses.unmap.sum() >= len(record.moves)


def test_an_access_at_the_moment_of_a_move_goes_to_the_new_place():
    size = 60 * KIB
    rows = [(0, 0, 0, 0, 1, size), (0, 0, 0, 0, 2, size), (10, 0, 0, 1, 1, 0), (20, 0, 0, 1, 2, 0)]
    record = Case(rows, line(100 * KIB, 100 * KIB), {"residency": MigrateBack()}).simulate()
    twice = Touches(page_bytes=64 * KIB, accesses_per_mib=34.0, cores_per_card=1)
    accesses = pool_accesses(record, twice)
    rows = zip(accesses.cycle.tolist(), accesses.page.tolist(), accesses.unmap.tolist(), strict=True)
    assert list(rows) == [(0, 0, False), (0, 1, False), (5, 0, False), (10, 0, False), (10, 1, True)]


@pytest.mark.parametrize("idle", [NEVER, LeastRecentlyUsed(limit_bytes_a_card=90 * KIB), AT_ONCE], ids=str)
@pytest.mark.parametrize("card", [None, "c0"])
def test_pages_are_those_of_a_plain_replay(idle, card):
    record = run(idle)
    accesses = pool_accesses(record, FEW, card)
    cards = sorted(set(record.borrower.tolist())) if card is None else [0]
    expected = slow.rows(record, 4 * KIB, 500.0, 4, 500.0, cards)
    rows = zip(
        accesses.cycle.tolist(), accesses.unmap.tolist(), accesses.core.tolist(), accesses.page.tolist(), strict=True
    )
    assert sorted(rows) == sorted(expected) and len(expected) > 300
    assert (np.diff(accesses.cycle) >= 0).all()


def test_a_logical_release_shoots_nothing_down_and_a_physical_one_each_of_its_pages_once():
    assert not pool_accesses(run(NEVER), FEW).unmap.any()
    record = run(AT_ONCE)
    accesses, gone = pool_accesses(record, FEW), -record.calls[record.calls[:, 3] < 0, 3]
    assert gone.size > 30 and accesses.unmap.sum() == sum(-(-int(size) // (4 * KIB)) for size in gone)
    assert np.unique(accesses.page[accesses.unmap]).size == accesses.unmap.sum()
    for page in accesses.page[accesses.unmap][:50]:
        assert (
            accesses.cycle[(accesses.page == page) & ~accesses.unmap].max(initial=0)
            <= accesses.cycle[(accesses.page == page) & accesses.unmap]
        )


def test_pieces_of_a_segment_share_its_pages():
    """PyTorch's rules cut small requests out of one segment of 2 MiB, which is 512 pages of 4 KiB."""
    rows = [(0, 0, 0, 0, 1, 512), (10, 0, 0, 0, 2, 512), (20, 0, 0, 1, 1, 0)]
    record = Case(rows, line(1 << 24, 1 << 24), {"cache": PytorchCaching()}).simulate()
    assert pool_accesses(record, FEW).page.tolist() == [0, 0]


def test_regions_that_join_what_several_calls_mapped():
    """Pages of 8 MiB, seen as pages of 4. In MiB: 0 to 5, on another card 0 to 5, then 5 to 15, 15 to 20, 0 to 8."""
    mib = 1 << 20
    messages = [(0, 1, 5), (1, 1, 5), (0, 2, 10), (0, 3, 5), (0, 2, 0), (0, 1, 0), (0, 4, 8), (0, 4, 0)]
    requests = [(at, app, app, int(size == 0), handle, size * mib) for at, (app, handle, size) in enumerate(messages)]
    policies = {"cache": ExpandableSegments(large_page=8 * mib), "idle_release": AT_ONCE}
    record = Case(requests, line(30 * mib, 30 * mib), policies).simulate()
    mapped = [[0, 0, 8], [1, 0, 8], [0, 8, 8], [0, 16, 8], [0, 0, -8], [0, 0, 8], [0, 0, -8]]
    assert (record.calls[:, 1:] // [1, mib, mib]).tolist() == mapped
    accesses = pool_accesses(record, Touches(page_bytes=4 * mib, accesses_per_mib=1.0, cores_per_card=1))
    first, other = accesses.page[(accesses.core == 0) & ~accesses.unmap], accesses.page[accesses.core == 1]
    assert (set(first.tolist()), set(other.tolist())) == ({0, 1, 2, 3, 4}, {6, 7})
    assert accesses.page[accesses.unmap].tolist() == [0, 1, 0, 1]
    expected = slow.rows(record, 4 * mib, 1.0, 1, 1000.0, [0, 1])
    rows = zip(
        accesses.cycle.tolist(), accesses.unmap.tolist(), accesses.core.tolist(), accesses.page.tolist(), strict=True
    )
    assert sorted(rows) == sorted(expected)


def test_the_engine_reads_the_file_and_counts_the_shoot_downs(tmp_path):
    for idle in (NEVER, AT_ONCE):
        accesses = pool_accesses(run(idle), FEW, "c0")
        write_pool_accesses(accesses, tmp_path / f"{idle.name}.csv")
        workload = {"file": str(tmp_path / f"{idle.name}.csv")}
        for level_cycles, arrives in ((0, True), (300, False)):  # before what it asked for is unmapped again
            machine = {"cores": 4, "page_bytes": 4 * KIB, "level_cycles": level_cycles}
            config = {"engine": "translation", "machine": machine, "workload": workload, "seeds": 1}
            record = Translation().simulate(make_plan(read_sweep(config)).points[0].setup, 0)
            assert record.shootdowns == accesses.unmap.sum()
            assert (measure(record)["shot_down"] > 0) == (idle is AT_ONCE and arrives)


def test_the_less_a_card_may_keep_the_more_is_walked():
    pages = idle_limit_and_translation([0, None], {**CHURN, "footprint": 0.005, "renewed": 100})
    nothing, everything = pages
    assert nothing.cached_peak_bytes == 0 < everything.cached_peak_bytes
    assert nothing.shot_down_pages > 0 == everything.shot_down_pages
    assert nothing.walks_per_kilo > 3 * everything.walks_per_kilo and nothing.accesses == everything.accesses
    assert nothing.private_hit_rate < everything.private_hit_rate
    assert nothing.driver_calls_per_request == 1 > everything.driver_calls_per_request


def test_what_cannot_be_written_as_pages_is_said():
    with pytest.raises(InputError, match=r"unknown card 'c9'; there are c0, c1, c2\."):
        pool_accesses(run(NEVER), FEW, "c9")
    with pytest.raises(InputError, match=r"at most 20,000,000 rows of a kind\. Got .*; take larger pages"):
        pool_accesses(run(NEVER)._replace(asked=np.full(len(run(NEVER).asked), 1 << 30)), FEW)
    with pytest.raises(InputError, match="needs at least one limit"):
        idle_limit_and_translation([])
