"""With neutral couplings each part of the twin does in the node what it does alone (spec 6, R17)."""

from __future__ import annotations

import pytest

from tests.oracles.node import alone
from tests.oracles.node.description import Node
from tests.oracles.node.log import Row
from tests.oracles.node.node import Simulation, simulate
from tests.oracles.node.random_nodes import random_node

pytestmark = pytest.mark.slow

SEEDS = (*range(10), 20, 60)


def neutral(seed: int) -> Simulation:
    """Run a neutral node whose choice of modules asks no other part."""
    values = random_node(seed, neutral=True)
    if values["policies"]["choice"] == "affinity":
        values["policies"]["choice"] = "balanced"
    run = simulate(Node.of(values))
    assert not run.failure
    return run


def of_application(rows: list[Row], application: int) -> list[Row]:
    """Return the rows of one application."""
    return [row for row in rows if row.key.application == application]


@pytest.mark.parametrize("seed", SEEDS)
def test_translation_alone(seed: int) -> None:
    run = neutral(seed)
    for card in range(len(run.translations)):
        rows = run.log.of("translation", card=card)
        assert alone.translation(run, card) == [row for row in rows if row.kind != "shootdown"]


@pytest.mark.parametrize("seed", SEEDS)
def test_dispatcher_alone(seed: int) -> None:
    run = neutral(seed)
    for card in range(len(run.dispatchers)):
        assert alone.dispatcher(run, card) == run.log.of("dispatch", card=card)


@pytest.mark.parametrize("seed", SEEDS)
def test_heap_alone(seed: int) -> None:
    run = neutral(seed)
    for application, card in run.heaps:
        assert alone.heap(run, application, card) == of_application(run.log.of("malloc", card=card), application)


@pytest.mark.parametrize("seed", SEEDS)
def test_pool_alone(seed: int) -> None:
    run = neutral(seed)
    assert alone.pool(run) == run.log.of("pool")


def test_that_the_nodes_do_something() -> None:
    runs = [neutral(seed) for seed in SEEDS]
    for part, kind in {"translation": "walk", "dispatch": "split", "malloc": "grant", "pool": "move"}.items():
        assert any(run.log.of(part, kind) for run in runs), (part, kind)


def test_a_coupling_shows() -> None:
    """A dispatcher alone, which knows no touches, departs from the node once touches hold groups."""
    values = random_node(1, neutral=True) | {"couplings": {"touches_hold": "group"}}
    values["policies"]["choice"] = "balanced"
    run = simulate(Node.of(values))
    cards = range(len(run.dispatchers))
    assert any(alone.dispatcher(run, card) != run.log.of("dispatch", card=card) for card in cards)
