"""Nothing is lost and nothing is made, in random nodes with all couplings on (spec 6, R18)."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracles.node.conservation import broken
from tests.oracles.node.description import Node
from tests.oracles.node.measures import ended_groups
from tests.oracles.node.node import simulate
from tests.oracles.node.random_nodes import random_node
from tests.oracles.node.times import PARTS, parts_of
from tests.slow import seeds, thinned

SEEDS = seeds(12, 288)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_coupled_node(seed: int) -> None:
    assert broken(simulate(Node.of(random_node(seed)))) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_neutral_node(seed: int) -> None:
    assert broken(simulate(Node.of(random_node(seed, neutral=True)))) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_horizon(seed: int) -> None:
    assert broken(simulate(Node.of(random_node(seed) | {"horizon": 700}))) == []


@pytest.mark.slow
def test_every_part_of_time_occurs() -> None:
    """Random nodes reach every part of R18, splitting, moves, refusals and stale directories."""
    totals: Counter[str] = Counter()
    for seed in (2, 4, 5, 8, 11, 12, 20, 21):
        result = simulate(Node.of(random_node(seed)))
        for group in ended_groups(result):
            totals.update(parts_of(result, group))
        totals.update({row.kind: 1 for row in result.log.rows})
    assert [name for name in (*PARTS, "split", "refused", "cancel") if not totals[name]] == []


def test_equal_seeds_give_equal_rows() -> None:
    first, second = (simulate(Node.of(random_node(7))).log.rows for _ in range(2))
    assert first == second


@pytest.mark.parametrize("seed", thinned(range(6), 5))
def test_policies_do_not_move_the_workload(seed: int) -> None:
    """All laws are drawn by who asks, never in the order of events (spec 6, E6)."""
    values = random_node(seed)
    others = random_node(seed + 1000)["policies"]
    runs = [simulate(Node.of(values | {"policies": policies})) for policies in (values["policies"], others)]
    draws = [
        {group.key[1:5]: group.compute for program in result.programs for group in program.groups} for result in runs
    ]
    common = draws[0].keys() & draws[1].keys()
    assert common
    assert all(draws[0][key] == draws[1][key] for key in common)
