"""Registered policies, asked in plain Python, answer the node's questions in place of the twin's own functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.oracles.node.description import Node
from tests.oracles.node.log import Row
from tests.oracles.node.node import simulate
from tests.oracles.node.policies import warp_aggregated
from tests.oracles.node.random_nodes import random_node
from workbench.policies.dispatch import RotatedSplit
from workbench.policies.malloc import WarpAggregated
from workbench.policies.placement import BestFit, NearestBoundary
from workbench.policies.pool import MaxBandwidth, best_fit_split
from workbench.policies.translation import SharingAwareEviction

pytestmark = pytest.mark.slow


def placement(policy: Any) -> Any:
    """Return a placement policy as the twin asks for it: a free map as a list, a length."""
    return lambda free, length: policy.place("".join("01"[one] for one in free), length)


def split(waves: int, units: int, pointer: int) -> tuple[list[int], int]:
    counts, moved = RotatedSplit().split(waves=waves, units=units, at=pointer)
    return list(counts), moved


def target(size: int, cards: Sequence[tuple[int, int, float]]) -> int | None:
    named = [(f"gpu{card}", free, gbps) for card, free, gbps in cards]
    return int(MaxBandwidth().choose(size=size, cards=named).removeprefix("gpu")) if named else None


def cache(sizes: Sequence[int], size: int) -> int | None:
    block = best_fit_split(cached=list(sizes), size=size)
    return None if block is None else list(sizes).index(block[0])


def eviction(pages: Sequence[int], degrees: Sequence[int]) -> int:
    recent_first = list(pages)[::-1]
    policy = SharingAwareEviction(base="mru", candidates=4, share_threshold=2)
    return recent_first[policy.victim(degrees=tuple(degrees)[::-1])]


REGISTERED: dict[str, tuple[str, Any]] = {
    "shared": ("nearest_boundary", placement(NearestBoundary())),
    "registers": ("best_fit", placement(BestFit())),
    "split": ("rotated", split),
    "target": ("max_bandwidth", target),
    "cache": ("best_fit", cache),
    "eviction": ("sharing_aware", eviction),
}
"""By question: a name of the twin's table, and the registered policy of that name."""


def rows_of(seed: int, policies: dict[str, Any]) -> list[Row]:
    values = random_node(seed)
    return simulate(Node.of(values | {"policies": values["policies"] | policies})).log.rows


@pytest.mark.parametrize("seed", [8, 11])
def test_registered_policies_give_the_same_rows(seed: int) -> None:
    own = {question: name for question, (name, _) in REGISTERED.items()}
    registered = {question: answer for question, (_, answer) in REGISTERED.items()}
    assert rows_of(seed, registered) == rows_of(seed, own)


def test_aggregated_sizes_are_those_of_the_registered_policy() -> None:
    sizes = [5, 1, 900, 3]
    ((total, _),) = WarpAggregated(min_alloc=4).offsets(sizes)
    assert sum(warp_aggregated(sizes, 4)[0]) == total
