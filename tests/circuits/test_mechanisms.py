"""Circuits of malloc, dispatch, buddy, the translation directory and the pool's choice beside their policies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.slow import LONG, thinned
from workbench.circuits import Simulator, cases_of, circuit_of, differences
from workbench.errors import InputError
from workbench.gates import NOT
from workbench.policies.dispatch.choice import LeastRecentEnergy, MostResidual
from workbench.policies.dispatch.priority_rules import PriorityWindows
from workbench.policies.dispatch.units import RotatedSplit
from workbench.policies.malloc.aggregation import WarpAggregated
from workbench.policies.placement import Buddy
from workbench.policies.pool.target import LeastBorrowed, MostFree, WeightedCards
from workbench.policies.translation.eviction import LRU, MRU
from workbench.policies.translation.peer import FirstBit

WARPS = [
    WarpAggregated(),
    WarpAggregated(align=1, min_alloc=1, zero_policy="null"),
    WarpAggregated(prefix="inclusive", min_alloc=24),
    WarpAggregated(prefix="as_written", align=256),
    WarpAggregated(leader_rule="first", zero_policy="null"),
]
WINDOWS = [
    (PriorityWindows(lengths=(8, 4, 2, 1)), 4),
    (PriorityWindows(shortest=3), 5),
    (PriorityWindows(lengths=(1,)), 1),
    (PriorityWindows(lengths=(2, 5), unmatched=True, increasing=True), 3),
    (PriorityWindows(lengths=(7, 6, 6, 1), unmatched=True), 2),
]
CHOICES = [
    (MostResidual(), (4, 128)),
    (MostResidual(weights=(3, 1, 0, 2)), (7, 128, 10, 48, 16)),
    (MostResidual(of="longest", weights=(1, 5)), (16, 12, 40)),
    (MostResidual(normalise=True), (5, 128, 64, 10)),
    (MostResidual(normalise=True, weights=(3, 1), of="longest"), (9, 12, 40)),
    (LeastRecentEnergy(), (4, 10)),
    (LeastRecentEnergy(weights=(0, 3, 0, 40, 1, 1)), (7, 3)),
]
SPLITS = [
    RotatedSplit(pointer=pointer, as_written=written, reading=reading)
    for pointer in ("tail", "head")
    for written, reading in ((False, "A"), (True, "A"), (True, "B"))
]
CARDS = [WeightedCards(), WeightedCards(weights=(3, 1, 0)), WeightedCards(normalise=False, filtered=False)]
CASES: list[tuple[Any, Any]] = [
    *((policy, lanes) for policy in WARPS for lanes in (1, 5, 16)),
    *WINDOWS,
    *CHOICES,
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
    assert [str(one) for one in differences(circuit_of(policy, size), cases_of(policy, size, 24))] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "size"),
    [
        *((policy, 32) for policy in WARPS),
        *WINDOWS,
        *CHOICES,
        (MostResidual(), (64, 128, 10)),
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
def test_thousands_of_states(policy: Any, size: Any) -> None:
    """Cases of a sequence hold many states each."""
    share = 1 if LONG else 5
    several = {PriorityWindows: 400, **dict.fromkeys((Buddy, RotatedSplit, FirstBit, LRU, MRU), 640)}
    cases = cases_of(policy, size, several.get(type(policy), 10_000) // share)
    assert sum(map(len, cases)) * share >= (1_000 if isinstance(policy, PriorityWindows) else 10_000)
    assert [str(one) for one in differences(circuit_of(policy, size), cases)] == []


def said(policy: Any, size: Any, /, **inputs: int) -> dict[str, list[int]]:
    """Return what a circuit says in its first step."""
    return Simulator(circuit_of(policy, size)).step({name: [value] for name, value in inputs.items()})


def test_the_example_of_the_source_document() -> None:
    """Sizes 5, 8, 9, 2: offsets 0, 5, 13, 22 of 24 bytes (spec 2)."""
    policy = WarpAggregated(min_alloc=1)
    answer = said(policy, 4, active=15, asked_0=5, asked_1=8, asked_2=9, asked_3=2)
    assert [answer[f"offset_{lane}"][0] for lane in range(4)] == [0, 5, 13, 22]
    assert (answer["total"], answer["leader"], answer["asks"]) == ([24], [0], [1])


@pytest.mark.slow
def test_the_examples_of_the_policies() -> None:
    split = said(RotatedSplit(), (4, 10), waves=3, dispatched=1)
    assert [split[f"count_{unit}"] for unit in range(4)] == [[0], [1], [1], [1]]
    assert split["after"] == [3]
    free, gbps = (10, 40, 60, 200, 52), (24, 150, 150, 16, 16)
    given = {"size": 20, **{f"free_{k}": n for k, n in enumerate(free)}, **{f"gbps_{k}": n for k, n in enumerate(gbps)}}
    chosen = [said(cards, (5, 8, 8), **given)["card"] for cards in (CARDS[0], CARDS[2])]
    assert chosen == [[2], [3]]


@pytest.mark.parametrize(
    ("policy", "size", "signal"),
    [
        (WARPS[0], 5, "first"),
        (*WINDOWS[0], "raised"),
        pytest.param(*WINDOWS[0], "ends", marks=pytest.mark.slow),
        pytest.param(*CHOICES[1], "score_2", marks=pytest.mark.slow),
        pytest.param(*CHOICES[6], "energy_3", marks=pytest.mark.slow),
        (Buddy(), 13, "order"),
        pytest.param(SPLITS[0], (4, 10), "extra", marks=pytest.mark.slow),
        (FirstBit(), (4, 8, 6), "made"),
        pytest.param(FirstBit(), (4, 8, 6), "others", marks=pytest.mark.slow),
        (LRU(), (5, 4, 1), "taken"),
        pytest.param(MRU(), (5, 4, 1), "goes", marks=pytest.mark.slow),
        pytest.param(CARDS[0], (4, 4, 3), "sum_1", marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_a_planted_fault_is_found(policy: Any, size: Any, signal: str) -> None:
    """Each row of gates that makes a named signal, turned into another one."""
    circuit, cases = circuit_of(policy, size), cases_of(policy, size, 400 if signal[-1].isdigit() else 60)
    makes = [k for k, row in enumerate(circuit.rows) if set(row.out) & set(circuit.signals[signal]) and row.kind != NOT]
    assert makes
    for k in makes:
        good = circuit.rows[k]
        circuit.rows[k] = good._replace(kind=1 if good.kind == 0 else 0)
        assert next(differences(circuit, cases), None) is not None
        circuit.rows[k] = good


def test_circuits_of_two_rules_differ() -> None:
    for one, other in ((WARPS[0], WARPS[2]), (WARPS[0], WARPS[3]), (WARPS[1], WARPS[4])):
        assert next(differences(circuit_of(one, 4), cases_of(other, 4, 40)), None) is not None


def test_nearly_all_cards_are_judged() -> None:
    """Rounding can decide only between cards whose exact sums are equal and whose numbers are not."""
    cases = cases_of(CARDS[0], (8, 16, 10), 200)
    assert sum("card" in case[0].outputs for case in cases) >= 190


@pytest.mark.parametrize(
    ("policy", "size", "sentence"),
    [
        (WarpAggregated(leader_rule="any"), 32, "leader_rule any draws a lane, which no circuit does"),
        (WarpAggregated(), 1024, r"lanes must be from 1 to 128 for a circuit\. Got 1024\. Nearest: 128"),
        (WarpAggregated(min_alloc=1 << 16), 32, "must be below 65,536 for a circuit"),
        (PriorityWindows(), 65, r"levels must be from 1 to 64 for a circuit\. Got 65\. Nearest: 64"),
        (PriorityWindows(lengths=(4, 2)), 3, "lengths"),
        (MostResidual(normalise=True), (4, 509, 511), "must have a common multiple up to 65536 for a normalised"),
        (LeastRecentEnergy(weights=(1, 2.5, 1, 1, 1, 1)), (4, 8), "least_recent_energy.weights must be whole numbers"),
        (LeastRecentEnergy(), (4, 40), "bits must be from 1 to 32 for a circuit"),
        (MostResidual(weights=(0.5,)), (4, 8), "must be 1 whole numbers for a circuit"),
        (MostResidual(), 16, "size must be the number of modules and the blocks of each resource"),
        (MostResidual(), (300, 8), r"modules must be at most 256 for a circuit\. Got 300"),
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
