"""What every run of the engine `pool` conserves (spec 5)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from tests.engines.conservation.laws import Law, Run, Suite
from tests.engines.pool_cases import Case, Row, line
from workbench.engines.kit.engine import Setup
from workbench.engines.pool import Pool
from workbench.metrics.pool import cached, in_use, reserved
from workbench.records.pool import ADDRESS, AFTER, BEFORE, BYTES, CARD, IDENTIFIER, RELEASED, TO, granted
from workbench.workloads.pool_requests import ALLOC, DIE, FREE

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def lives(sizes: list[int], cards: int, at_a_time: int, same_time: bool = False) -> list[Row]:
    """Applications of all cards in turn allocate; each region is freed when so many later ones live."""
    rows: list[Row] = []
    for k in range(len(sizes) + at_a_time):
        time = 0 if same_time else 10 * k
        if k < len(sizes):
            rows.append((time, k % cards, k % cards, ALLOC, k, sizes[k]))
        if k >= at_a_time:
            gone = k - at_a_time
            rows.append((time, gone % cards, gone % cards, FREE, gone, 0))
    return rows


def deaths(sizes: list[int], cards: int) -> list[Row]:
    """Applications free nothing and die one after the other, the first of card 0 with most of the regions."""
    rows = [(5 * k, k % 2, 0 if k % 4 else cards - 1, ALLOC, k, size) for k, size in enumerate(sizes)]
    return [*rows, *((900 + app, app, 0, DIE, 0, 0) for app in (0, 1))]


SIZES = [MIB * (1 + 7 * k % 13) for k in range(24)]
ODD = [1, 511, 4 * KIB + 1, 3 * MIB + 5, 20 * MIB, 1, 11 * MIB, 2 * MIB - 1, 64, 9 * MIB + 1] * 2
TIES = [4 * MIB] * 24


def world(rows: list[Row], *cards: int, **options: object) -> Setup:
    return Case(rows, line(*cards, cpus=(len(cards) - 1,) if len(cards) > 1 else ()), options=dict(options)).setup()


SKEWED = [(time, handle, 0, action, handle, size) for time, _, _, action, handle, size in lives(SIZES, 1, 16)]
"""An application a region, all of card 0, which is too small for them."""
WORLDS = {
    "one card": world(lives(ODD, 1, 5), GIB),
    "three cards, ties": world(lives(TIES, 3, 6, same_time=True), *[GIB] * 3),
    "three cards, deaths": world(deaths(SIZES, 3), *[2 * GIB] * 3),
    "eight cards": world(lives(SIZES, 8, 9), *[GIB] * 8),
    "three cards, one full": world(SKEWED, 60 * MIB, 600 * MIB, GIB),
    "three cards, one full, they wait": world(SKEWED, 60 * MIB, 44 * MIB, 40 * MIB, when_full="wait"),
    "eight cards, all full": world(lives([size // 2 for size in SIZES], 8, 16), *[8 * MIB] * 8),
}


def cards(run: Run) -> range:
    return range(len(run.record.cards))


def asked(run: Run) -> int:
    return int(run.record.asked[run.record.action == 0].sum())


def is_roomy(run: Run) -> bool:
    """Return whether every card alone has twice what is asked of all, so no policy has a reason to refuse (R24)."""
    return bool(2 * asked(run) <= run.record.capacity.min())


def bytes_taken(run: Run) -> int:
    """Return the bytes of all regions on all cards on which they ever lay."""
    return int(run.record.taken[granted(run.record)].sum() + run.record.moves[:, AFTER].sum())


def bytes_left(run: Run) -> int:
    """Return the bytes that regions left, by a move or a release."""
    return int(run.record.taken[run.record.outcome == RELEASED].sum() + run.record.moves[:, BEFORE].sum())


def rounded_up(run: Run, card: int) -> int:
    """Return the bytes that the driver keeps beyond those that it was asked for, where it deals in granules."""
    granule, calls = int(run.play.state.driver.granule), run.record.calls
    if granule == 0:
        return 0
    sizes = calls[calls[:, CARD] == card, BYTES].tolist()
    rests = [ceil(Fraction(abs(size), granule)) * granule - abs(size) for size in sizes]
    kept = sum(rest if size > 0 else -rest for size, rest in zip(sizes, rests, strict=True))
    return int(run.record.capacity[card]) % granule + kept


def check(run: Run) -> None:
    """R7, E5, E19: no card has more than it has, and the driver has back whole allocations, each once."""
    record = run.record
    for card in cards(run):
        assert np.all(cached(record)[card] >= 0) and np.all(in_use(record)[card] >= 0)
        assert np.all(reserved(record)[card] <= record.capacity[card])
    if run.setup.policies["cache"].rules().pages == 0:
        live: dict[tuple[int, int], int] = {}
        for call in record.calls.tolist():
            key, size = (call[CARD], call[IDENTIFIER]), call[BYTES]
            assert live.pop(key, 0) == -size if size < 0 else live.setdefault(key, size) == size
    assert np.all(record.taken[granted(record)] >= record.asked[granted(record)])
    assert set(record.moves[:, TO].tolist()) <= set(cards(run)) and np.all(record.moves[:, ADDRESS] >= 0)


ROUNDS = "section 7: rivals, which round requests up"
ROUNDING = [
    f"cache={name}"
    for name in (
        "bfc",
        "binary_buddies",
        "expandable_segments",
        "pytorch_caching",
        "rmm_pool",
        "size_classes",
        "stitching",
    )
]
BUDDIES = "section 7: buddies are a rival, which round up to powers of two"
WHOLE = "section 2: the lever split; without it a larger block is granted whole"

LAWS = [
    Law(
        "bytes granted where there is room, as asked for",
        "spec 5, R10-R15, R24",
        got=lambda run: int(run.record.asked[granted(run.record)].sum()) if is_roomy(run) else 0,
        due=lambda run: asked(run) if is_roomy(run) else 0,
    ),
    Law(
        "regions released are those that were granted",
        "spec 5, R27, R28, E18",
        got=lambda run: int((run.record.outcome == RELEASED).sum()),
        due=lambda run: int(granted(run.record).sum()),
    ),
    Law(
        "bytes that regions leave are those that they took",
        "spec 5, R28, E17",
        got=bytes_left,
        due=bytes_taken,
    ),
    Law(
        "bytes taken of what is granted",
        "spec 5, R11, R12, E25",
        got=lambda run: int(run.record.taken[granted(run.record)].sum()),
        due=lambda run: int(run.record.asked[granted(run.record)].sum()),
        allowed={**dict.fromkeys(ROUNDING, ROUNDS), "cache=split_and_coalesce.split=False": WHOLE},
    ),
    Law(
        "bytes of each card: free, cached and in use",
        "spec 5, R6, R7",
        got=lambda run: run.play.state.physical + run.play.state.cached + run.play.state.held,
        due=lambda run: [int(run.record.capacity[card]) - rounded_up(run, card) for card in cards(run)],
        allowed={"driver=buddy": BUDDIES},
    ),
    Law(
        "bytes in use by the engine are those of the measure",
        "spec 5, R6",
        got=lambda run: run.play.state.held,
        due=lambda run: [in_use(run.record)[card][-1] for card in cards(run)],
    ),
    Law(
        "bytes cached by the engine are those of the measure",
        "spec 5, R6, R28",
        got=lambda run: run.play.state.cached,
        due=lambda run: [cached(run.record)[card][-1] for card in cards(run)],
    ),
]
LIMITED = ("largest", "least_recently_used", "smallest_sufficient")
FITTED: dict[str, tuple[dict[str, Any], ...]] = {
    **dict.fromkeys(("bind", "preferred"), ({"cards": "c0"},)),
    **dict.fromkeys(LIMITED, ({"limit_bytes_a_card": 5 * MIB}, {"limit_bytes_a_card": 0})),
}
REFUSED = {
    "driver=compaction": "spec 1, section 7: a bound for one shared memory; what a driver gave stays where it is"
}
SUITE = Suite(Pool(), WORLDS, LAWS, FITTED, REFUSED, check)
