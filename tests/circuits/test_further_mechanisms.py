"""Circuits of buddy, rotated split, the translation directory and the choice of a card beside their policies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.depth import long, thinned
from workbench.circuits import Simulator, cases_of, circuit_of, differences
from workbench.errors import InputError
from workbench.gates import NOT
from workbench.policies.dispatch.units import RotatedSplit
from workbench.policies.placement import Buddy
from workbench.policies.pool.target import LeastBorrowed, MostFree, WeightedCards
from workbench.policies.translation.eviction import LRU, MRU
from workbench.policies.translation.peer import FirstBit

SPLITS = [
    RotatedSplit(pointer=pointer, as_written=written, reading=reading)
    for pointer in ("tail", "head")
    for written, reading in ((False, "A"), (True, "A"), (True, "B"))
]
CARDS = [WeightedCards(), WeightedCards(weights=(3, 1, 0)), WeightedCards(normalise=False, filtered=False)]
CASES: list[tuple[Any, Any]] = [
    *((Buddy(), segments) for segments in (2, 8, 13, 24, 32)),
    *((split, size) for split in SPLITS for size in ((4, 10), (3, 5))),
    (SPLITS[0], (1, 4)),
    (FirstBit(), (4, 8, 6)),
    (FirstBit(), (5, 3, 3)),
    *((evict, size) for evict in (LRU(), MRU()) for size in ((2, 3, 2), (5, 4, 1), (8, 6, 3))),
    *((cards, (8, 10, 6)) for cards in CARDS),
    (CARDS[0], (3, 3, 2)),
]


@pytest.mark.parametrize(("policy", "size"), thinned([pytest.param(*case) for case in CASES], 4), ids=repr)
def test_a_circuit_says_what_its_policy_says(policy: Any, size: Any) -> None:
    assert [str(one) for one in differences(circuit_of(policy, size), cases_of(policy, size, 12))] == []


@long
@pytest.mark.parametrize(
    ("policy", "size"),
    [
        (Buddy(), 16),
        (Buddy(), 64),
        (Buddy(), 100),
        (Buddy(), 128),
        *((split, (4, 10)) for split in SPLITS),
        (SPLITS[0], (16, 8)),
        (FirstBit(), (8, 16, 12)),
        (FirstBit(), (64, 128, 20)),
        *((evict, (32, 10, 6)) for evict in (LRU(), MRU())),
        *((cards, (16, 16, 10)) for cards in CARDS),
    ],
    ids=repr,
)
def test_ten_thousand_states(policy: Any, size: Any) -> None:
    cases = cases_of(policy, size, 10_000 if isinstance(policy, WeightedCards) else 640)
    assert sum(map(len, cases)) >= 10_000
    assert [str(one) for one in differences(circuit_of(policy, size), cases)] == []


def test_the_examples_of_the_policies() -> None:
    split = Simulator(circuit_of(RotatedSplit(), (4, 10))).step({"waves": [3], "dispatched": [1]})
    assert [split[f"count_{unit}"] for unit in range(4)] == [[0], [1], [1], [1]]
    assert split["after"] == [3]
    free, gbps = (10, 40, 60, 200, 52), (24, 150, 150, 16, 16)
    given = {"size": [20], **{f"free_{k}": [n] for k, n in enumerate(free)}}
    given |= {f"gbps_{k}": [n] for k, n in enumerate(gbps)}
    chosen = [Simulator(circuit_of(cards, (5, 8, 8))).step(given)["card"] for cards in (CARDS[0], CARDS[2])]
    assert chosen == [[2], [3]]


@pytest.mark.parametrize(
    ("policy", "size", "signal"),
    [
        (Buddy(), 13, "order"),
        (SPLITS[0], (4, 10), "extra"),
        (FirstBit(), (4, 8, 6), "made"),
        (FirstBit(), (4, 8, 6), "others"),
        (LRU(), (5, 4, 1), "taken"),
        (MRU(), (5, 4, 1), "goes"),
        (CARDS[0], (4, 4, 3), "sum_1"),
    ],
    ids=repr,
)
def test_a_planted_fault_is_found(policy: Any, size: Any, signal: str) -> None:
    """The gates that make a named signal, inverted."""
    good, cases = circuit_of(policy, size), cases_of(policy, size, 60)
    makes = [k for k, row in enumerate(good.rows) if set(row.out) & set(good.signals[signal]) and row.kind != NOT]
    assert makes
    bad = circuit_of(policy, size)
    for k in makes:
        bad.rows[k] = bad.rows[k]._replace(kind=1 if bad.rows[k].kind == 0 else 0)
    assert next(differences(bad, cases), None) is not None


def test_nearly_all_cards_are_judged() -> None:
    """Rounding can decide only between cards whose exact sums are equal and whose numbers are not."""
    cases = cases_of(CARDS[0], (8, 16, 10), 200)
    assert sum("card" in case[0].outputs for case in cases) >= 190


@pytest.mark.parametrize(
    ("policy", "size", "sentence"),
    [
        (Buddy(), 2000, r"segments must be from 2 to 1024 for a circuit"),
        (RotatedSplit(), 4, "size must be the units of a module and the waves that a unit holds"),
        (RotatedSplit(), (65, 4), r"units must be from 1 to 64 for a circuit\. Got 65\. Nearest: 64"),
        (FirstBit(), (4, 2000, 9), r"records must be from 1 to 1024 for a circuit\. Got 2,?000"),
        (WeightedCards(weights=(1, 1, 1)), (4, 8, 8), "is no whole number, which its circuit needs"),
        (WeightedCards(choices=(MostFree(), LeastBorrowed()), weights=(0.5, 0)), (4, 8, 8), "must be whole numbers"),
        (WeightedCards(), (65, 8, 8), r"cards must be from 1 to 64 for a circuit"),
    ],
    ids=str,
)
def test_what_a_circuit_cannot_have_is_refused(policy: Any, size: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        circuit_of(policy, size)
