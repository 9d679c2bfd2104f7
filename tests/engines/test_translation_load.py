"""The engine `translation` under load: equal to its event-driven twin, and its shortcuts to itself."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from tests.engines.translation_cases import GivenAccesses, simulate
from tests.engines.translation_load_cases import (
    EARLIER,
    Case,
    differences,
    drawn,
    drawn_with_unmappings,
    drawn_with_walks,
)
from tests.slow import seeds
from workbench.engines.translation import Translation, prepare
from workbench.policies.translation import (
    FIFO,
    LRU,
    MRU,
    Always,
    DemandAlways,
    Directory,
    LeaderFollower,
    Nearest,
    NoDirectory,
    Oracle,
    PushNeighbours,
    PushPair,
)
from workbench.records.translation import events

IDLE = Path(__file__).parent.parent / "data" / "translation_idle.json"
"""Digests of spaced-out runs by the engine of revision 2, which booked everything at issue: then nothing can meet."""
AT_ONCE = ["served", "latency_cycles", "latency_counts", "latency_sums", "shared_accesses", "walks", "walk_levels",
           "walk_queue_cycles", "walks_joined", "fills", "evictions", "refused_fills", "remote_requests", "stale",
           "messages", "port_wait_cycles", "mshr_wait_cycles", "shootdowns", "degrees", "pairs"]  # fmt: skip
AT_AN_END = (LRU, FIFO, MRU)
"""Policies whose victim stands at an end of a list."""
SIZE = 20
"""Cases of one test: a sixth of a second each."""


@pytest.mark.bounds
@pytest.mark.parametrize("part", seeds(1, 159))
def test_the_engine_and_its_event_driven_twin_agree(part: int) -> None:
    for seed in range(SIZE * part, SIZE * (part + 1)):
        result = differences(drawn(seed))
        assert not result, (seed, sorted(result))


def quick(case: Case) -> Any:
    """The record of a case without its log, so that the engine may take its shortcuts."""
    return Translation().simulate(case.setup(), case.seed)


def same(one: Any, other: Any, besides: tuple[str, ...] = ("log",)) -> None:
    """Compare two records field by field."""
    unequal = [k for k in one._fields if k not in besides and not np.array_equal(getattr(one, k), getattr(other, k))]
    assert not unequal


@pytest.mark.parametrize("seed", seeds(16, 960))
def test_keeping_a_log_which_allows_no_shortcut_changes_nothing(seed: int) -> None:
    case = drawn(seed)
    same(quick(case), case.engine())


@pytest.mark.parametrize("seed", seeds(16, 480))
def test_undisturbed_misses_are_served_in_one_step_as_by_events(seed: int) -> None:
    draw = np.random.default_rng(seed)
    case, plain = drawn(seed), {"locate": NoDirectory(), "fill": DemandAlways()}
    if seed % 4 == 0:
        plain["eviction"] = AT_AN_END[seed // 4 % 3]()
    machine = {**case.machine, "shared_entries": 0, "shared_ways": 0, "walk_cache_entries": 0, "private_ports": 0}
    machine["level_cycles"] = int(draw.choice([0, 1, 3]))
    case = dataclasses.replace(case, machine=machine, policies={**case.policies, **plain}, warps=None)
    same(quick(case), case.engine())


@pytest.mark.parametrize("seed", seeds(16, 960))
def test_misses_before_the_next_event_are_answered_in_one_step_as_by_events(seed: int) -> None:
    """Beside a directory or none, rows from close together to far apart: some misses are disturbed, some are not."""
    draw = np.random.default_rng([seed, 6])
    case, apart = drawn(seed), int(draw.choice([1, 2, 5, 40]))
    near = Directory(scope=Oracle(), look_up_cycles=int(draw.integers(4)), max_remote_tries=int(draw.integers(1, 3)))
    plain = {"locate": near if draw.random() < 0.8 else NoDirectory(), "peer": Nearest(), "fill": DemandAlways()}
    plain |= {"remote_fill": Always(), "eviction": AT_AN_END[seed % 3](), "shared_eviction": LRU()}
    machine = {**case.machine, "private_ports": 0, "shared_ports": 0, "link_cycles": 0}
    machine["shared_entries"] = max(machine["shared_entries"], 1)
    rows = [row._replace(cycle=row.cycle * apart) for row in case.rows]
    case = dataclasses.replace(case, rows=rows, machine=machine, policies=plain, warps=None)
    same(quick(case), case.engine())


@pytest.mark.parametrize("draws", [drawn, drawn_with_walks, functools.partial(drawn_with_unmappings, plain=True)])
@pytest.mark.parametrize("seed", seeds(8, 480))
def test_skipping_changes_nothing(seed: int, draws: Callable[[int], Case]) -> None:
    """What takes no short way, foresees no event and asks every policy records the same."""
    case = draws(seed)
    with mock.patch.object(prepare, "SKIPS", 0):
        plain = quick(case)
    same(quick(case), plain, besides=())


@pytest.mark.parametrize("eviction", ["lru", "mru", "fifo", "lfu", "arc", "s3fifo"])
@pytest.mark.parametrize("seed", range(3))
def test_a_skimmed_stretch_leaves_its_entries_in_the_order_of_their_last_use(seed: int, eviction: str) -> None:
    """Stretches of 2,600 hits of some of eight pages; then four other pages evict the oldest, and one is asked for.

    The first row, long before, makes windows of time longer than such a stretch, which ends with its window.
    """
    draw, rows, cycle = np.random.default_rng(seed), [(0, 0, 0)], 4_000_000
    for _ in range(5):
        alone = [100, 101, 102, 103, int(draw.integers(8)), *draw.permutation(8).tolist()]
        rows += [(cycle + 1000 * at, 0, page) for at, page in enumerate(alone)]
        again = draw.permutation(8).tolist()
        rows += [(cycle + 20_000 + 1000 * at, 0, page) for at, page in enumerate(again)]
        hits = draw.integers(0, int(draw.integers(4, 9)), 2600).tolist()
        rows += [(cycle + 40_000 + at, 0, page) for at, page in enumerate(hits)]
        cycle += 80_000
    machine = {"cores": 1, "private_entries": 8, "shared_entries": 0}
    plain = {"locate": "no_directory", "fill": "demand_always", "eviction": eviction}
    often = {"sample_accesses": 2000}
    skimmed, by_events = simulate(rows, machine, plain, **often), simulate(rows, machine, plain, events=True, **often)
    assert by_events.evictions > 8
    same(skimmed, by_events)


def of_core(record: Any, core: int) -> list[tuple[int, int, int]]:
    """Cycle, page and latency of a core's accesses."""
    log = events(record)
    rows = zip(*(log[name].tolist() for name in ("cycle", "page", "latency", "kind", "core")), strict=True)
    return [(cycle, page, latency) for cycle, page, latency, kind, who in rows if kind == "access" and who == core]


PLAIN = {"locate": "no_directory", "fill": "demand_always"}


def test_t13_walks_of_the_future_hold_no_walker() -> None:
    machine = {"cores": 2, "shared_entries": 0, "walkers": 2, "private_mshrs": 1}
    rows = [(0, 0, 1), (1, 0, 2), (2, 0, 5), (3, 0, 6), (4, 1, 3), (5, 1, 4)]
    record = simulate(rows, machine, PLAIN, events=True)
    assert of_core(record, 1) == [(4, 3, 401), (5, 4, 800)]
    assert (record.mshr_stalls, record.walkers, record.walk_cycles) == (4, 2, 6 * 400)
    assert record.last_start == 5


def test_t13_a_walk_under_way_is_joined_whatever_was_evicted() -> None:
    machine = {"cores": 4, "shared_entries": 1, "walkers": 1}
    record = simulate([(0, 0, 1), (1, 1, 2), (2, 2, 1), (3, 3, 2)], machine, PLAIN)
    assert (record.walks, record.walks_joined) == (2, 2)
    assert record.walk_queue_cycles == 413 - 14
    assert record.walk_queue_latency == (413 - 14) + (413 - 16)


def test_a_request_sent_back_that_joins_a_walk_under_way_has_waited_since_it_came() -> None:
    """A queue of one: pages 1 and 2 fill walker and queue; core 2's page 3 enters it at 401, and its walk begins at
    801, when core 3, which came at 4 and was sent back as well, joins it.
    """
    machine = {"cores": 4, "shared_entries": 0, "walkers": 1, "walk_queue": 1}
    record = simulate([(0, 0, 1), (1, 1, 2), (2, 2, 3), (3, 3, 3)], machine, PLAIN)
    assert (record.walks, record.walks_joined) == (3, 1)
    assert record.walk_queue_cycles == (401 - 2) + (801 - 3)
    assert record.walk_queue_latency == (401 - 2) + (801 - 3) + (801 - 4)


DIRECTED = {**PLAIN, "locate": {"directory": {"scope": "oracle"}}, "peer": "nearest", "eviction": "lru"}
SLOW = {"cores": 4, "private_cycles": 20, "network": "crossbar"}
"""Between a miss and the look-up in its directory there is time for others."""


@pytest.mark.parametrize(("before", "asked"), [(19, 1), (21, 0)])
def test_a_fill_between_a_miss_and_its_directory_is_seen(before: int, asked: int) -> None:
    filled = of_core(simulate([(0, 0, 7)], SLOW, DIRECTED, events=True), 0)[0][2]
    rows = [(0, 0, 7), (filled - before, 1, 7), (filled + 500, 2, 8)]
    assert simulate(rows, SLOW, DIRECTED).remote_requests == asked


@pytest.mark.parametrize("cuts", [(), (2,)])
@pytest.mark.parametrize(("later", "asked"), [(2, 0), (21, 1)])
def test_an_unmapping_between_a_miss_and_its_directory_is_seen(later: int, asked: int, cuts: tuple[int, ...]) -> None:
    rows = [(0, 0, 7), (5000, 1, 7), (5000 + later, 0, 7, True), (9000, 2, 8)]
    assert simulate(GivenAccesses(rows, cuts), SLOW, DIRECTED).remote_requests == asked


def spaced_out(seed: int) -> Case | None:
    """A case with one access under way at a time, in which no copies travel and nothing is taken away from afar."""
    case = drawn(seed, loaded=False, rules=EARLIER)
    travels = isinstance(case.policies["fill"], (PushPair, PushNeighbours, LeaderFollower))
    reply = travels or case.options["inclusive"] or case.machine["link_cycles"] or case.options["pages_an_entry"] > 1
    near = isinstance(case.policies["locate"], (NoDirectory, Directory))
    return None if reply or not near or any(row.unmap for row in case.rows) else case


def digest(record: Any) -> str:
    """A digest of what an access costs, and of what there is at the end."""
    settings = {name: np.asarray(getattr(record, name)).tolist() for name in AT_ONCE}
    return hashlib.blake2b(json.dumps(settings).encode(), digest_size=8).hexdigest()


def test_an_access_alone_is_answered_as_before_this_edition() -> None:
    kept = json.loads(IDLE.read_text())
    assert len(kept) >= 40
    for seed, expected in kept.items():
        case = spaced_out(int(seed))
        assert case is not None
        assert digest(quick(case)) == expected, seed
