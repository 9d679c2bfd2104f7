"""Circuits of placement, register and all, beside what their policies grant (spec 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.slow import LONG
from workbench.circuits import Circuit, Simulator, cases_of, circuit_of, differences
from workbench.errors import InputError
from workbench.gates import NOT
from workbench.policies.placement import BestFit, Buddy, FirstFit, LastFit, NearestBoundary, WorstFit

POLICIES = [
    FirstFit(),
    LastFit(),
    BestFit(),
    BestFit(tie="high"),
    NearestBoundary(),
    NearestBoundary(tie="high", encoding="free0"),
    NearestBoundary(tie="alternate", leading_one="linear"),
    NearestBoundary(distance="start_bit", probe="window_and", lut_bits=1),
    NearestBoundary(probe="mask_or_and", tie="alternate"),
    NearestBoundary(probe="mask_or_and", mask_source="on_the_fly", encoding="free0", lut_bits=64),
    NearestBoundary(scan_order="descending", tie="alternate", distance="start_bit"),
]


def disagreements(policy: Any, segments: int, count: int) -> list[str]:
    """Return what a circuit says other than its policy."""
    circuit = circuit_of(policy, segments)
    return [str(one) for one in differences(circuit, cases_of(policy, segments, count))]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("segments", [7, *(pytest.param(segments, marks=pytest.mark.slow) for segments in (2, 16))])
def test_a_circuit_grants_what_its_policy_grants(policy: Any, segments: int) -> None:
    assert disagreements(policy, segments, 12) == []


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("segments", [16, 61, 128])
def test_thousands_of_states(policy: Any, segments: int) -> None:
    """Each case is 24 states from a reset on."""
    assert disagreements(policy, segments, 420 if LONG else 84) == []


@pytest.mark.parametrize("policy", [*POLICIES, Buddy()], ids=repr)
@pytest.mark.parametrize("segments", [2, 5, 8])
def test_a_length_that_the_memory_has_not_is_granted_nothing(policy: Any, segments: int) -> None:
    circuit = circuit_of(policy, segments)
    every = range(1 << circuit.ports["length"].size)
    nothing = dict.fromkeys(("frees", "base", "released"), [0] * len(every))
    granted = Simulator(circuit, len(every)).step({**nothing, "request": [1] * len(every), "length": list(every)})
    fits = [length in range(1, segments + 1) and policy.footprint(length, segments) <= segments for length in every]
    assert granted["granted"] == [int(one) for one in fits]


def answered(policy: Any, text: str, length: int) -> tuple[int, int]:
    """Return what a circuit says in a state, as it is written, of which its register holds the bits."""
    circuit = circuit_of(policy, len(text))
    simulator = Simulator(circuit)
    state = [bit == "1" for bit in text]
    simulator.values[circuit.registers["map"].wires, 0] = np.where(state, ~np.uint64(0), np.uint64(0))
    said = simulator.step(
        {"request": [1], "length": [length], "frees": [0], "base": [0], "released": [0]}
    )  # fmt: skip
    return said["granted"][0], said["start"][0]


def test_v2_first_fit_leaves_a_fragment() -> None:
    assert answered(FirstFit(), "0011110" + "0" * 117 + "1111", 3) == (1, 2)


@pytest.mark.parametrize(("length", "base"), [(1, 127), (2, 126), (3, 125), (4, 124)])
def test_v5_and_v6_the_high_side_is_nearer(length: int, base: int) -> None:
    assert answered(NearestBoundary(), "0011110" + "0" * 117 + "1111", length) == (1, base)


@pytest.mark.parametrize("probe", ["shift_and", "window_and", "mask_or_and"])
def test_v8_the_low_side_is_nearer(probe: Any) -> None:
    assert answered(NearestBoundary(probe=probe), "0111100111111100", 4) == (1, 1)
    assert answered(NearestBoundary(probe=probe, encoding="free0"), "1000011000000011", 4) == (1, 1)


def test_what_does_not_fit_is_not_granted() -> None:
    assert answered(NearestBoundary(), "0111100111111100", 8) == (0, 0)


def planted(circuit: Circuit, row: int) -> Circuit:
    """Turn the gates of one row into others."""
    old = circuit.rows[row]
    circuit.rows[row] = old._replace(kind=1 if old.kind == 0 else 0)
    return circuit


NAMED = ["given_back", "free_pre", "start_map", "taken", "takes_high"]
"""Signals of which each gate matters."""


@pytest.mark.parametrize("name", NAMED)
def test_a_planted_fault_is_found(name: str) -> None:
    policy = NearestBoundary(tie="alternate")
    cases, wires = cases_of(policy, 7, 40), circuit_of(policy, 7).signals[name]
    rows = [k for k, row in enumerate(circuit_of(policy, 7).rows) if np.isin(row.out, wires).any() and row.kind != NOT]
    assert rows
    for k in rows:
        assert next(differences(planted(circuit_of(policy, 7), k), cases), None) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FirstFit(), LastFit()),
        (FirstFit(), BestFit()),
        (BestFit(), BestFit(tie="high")),
        (NearestBoundary(), NearestBoundary(tie="high")),
        (NearestBoundary(tie="high"), NearestBoundary(tie="alternate")),
        (NearestBoundary(), NearestBoundary(distance="start_bit")),
    ],
    ids=repr,
)
def test_circuits_of_two_rules_differ(one: Any, other: Any) -> None:
    assert next(differences(circuit_of(one, 16), cases_of(other, 16, 40)), None) is not None


def test_what_has_no_circuit_is_said() -> None:
    with pytest.raises(InputError, match="worst_fit has no circuit; of its kind have one: best_fit, buddy, "):
        circuit_of(WorstFit(), 16)
    with pytest.raises(InputError, match=r"segments must be from 2 to 1024 for a circuit\. Got 4096\. Nearest: 1024"):
        circuit_of(FirstFit(), 4096)
