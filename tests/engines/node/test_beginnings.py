"""Parts that are copied for a run begin as if they were made for it, whatever earlier runs wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.engines.conservation.node import SKEWED, SUITE, WORLDS, world
from workbench.engines.kit.columns import logs_of
from workbench.engines.kit.engine import Setup
from workbench.engines.node import beginnings
from workbench.engines.node.beginnings import kept
from workbench.engines.node.engine import Node
from workbench.engines.node.parts import Members
from workbench.engines.node.state import State
from workbench.errors import InputError
from workbench.identity import one_moment
from workbench.policies.pool import Lowest

WORLD = world(SKEWED, 2, 3, memory="wait", pages="64k", remote="link", history=True)
ONCE = 3
"""Parts that are kept of a setup: a dispatcher, a translation and the pool."""


@pytest.fixture(autouse=True)
def _nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep nothing of other tests, and the pools of all worlds, some of which are large."""
    monkeypatch.setattr(beginnings, "MOST_BYTES", 1 << 24)
    kept.clear()
    yield
    kept.clear()


def parts(setup: Setup, seed: int) -> list[Any]:
    """Return what the parts of a run run on before anything happens."""
    node = Node()
    reading = node.read(node.given(setup, seed))
    room = {**dict.fromkeys(logs_of(State), 0), **node.room(reading)}
    return [one and one.part.lent for one in Members(reading, seed, events=False, room=room).each]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what a tuple and the tuples within it hold, each with its path."""
    if isinstance(value, (tuple, list)):
        for name, field in zip(getattr(value, "_fields", range(len(value))), value, strict=True):
            yield from leaves(field, f"{path}.{name}")
    else:
        yield path, value


def plain(value: Any) -> Any:
    return (value.tobytes(), value.dtype, value.shape) if isinstance(value, np.ndarray) else value


def spoil_copies() -> None:
    """Write to everything that a copy holds."""
    for _, template in [one for one in kept.values() if isinstance(one, tuple)]:
        for _, array in leaves(template.copy()):
            if isinstance(array, np.ndarray):
                array[...] = 1


def differences(setup: Setup) -> list[str]:
    """Return the differences of parts copied for a seed from parts made for it, after copies for another seed were
    written to."""
    for seed in (1, 3):  # what is asked for once is not kept
        parts(setup, seed)
    spoil_copies()
    copied = [*leaves(parts(setup, 2))]
    kept.clear()
    made = dict(leaves(parts(setup, 2)))
    assert made.keys() == dict(copied).keys()
    differing = [path for path, value in copied if plain(value) != plain(made[path])]
    return [path for path in differing if ".hooks" not in path]  # addresses of the part itself


@pytest.mark.parametrize("slot", SUITE.engine.slots)
def test_copies_are_what_is_made_for_every_policy(slot: str) -> None:
    for policy in SUITE.policies(slot):
        with suppress(InputError):
            assert differences(WORLD._replace(policies={**WORLD.policies, slot: policy})) == [], policy.short()


@pytest.mark.parametrize("name", WORLDS)
def test_copies_are_what_is_made_after_a_run(name: str) -> None:
    Node().simulate(WORLDS[name], 1)
    assert len(kept) >= ONCE
    assert differences(WORLDS[name]) == []


def test_a_tie_by_chance_follows_the_seed() -> None:
    options = WORLD.options.but(dispatch=WORLD.options.dispatch.but(module_tie="random"))
    assert differences(WORLD._replace(options=options)) == []


@pytest.mark.parametrize("engine", ["dispatch", "translation"])
def test_what_tests_set_is_set_in_copies(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts(WORLD, 1)
    monkeypatch.setattr(f"workbench.engines.{engine}.prepare.SKIPS", 0)
    copied = [plain(value) for _, value in leaves(parts(WORLD, 1))]
    kept.clear()
    assert [plain(value) for _, value in leaves(parts(WORLD, 1))] == copied


def test_cards_share_a_part_and_plans_do_not() -> None:
    parts(WORLD, 1)
    parts(WORLD, 2)
    assert len(kept) == ONCE
    with one_moment():
        parts(WORLD, 1)
    assert len(kept) == 2 * ONCE


def test_what_is_made_once_is_kept_when_it_is_made_again() -> None:
    alone = world(SKEWED, 1, 3, memory="wait", pages="64k", remote="link", history=True)
    parts(alone, 1)
    assert {*kept.values()} == {beginnings.ONCE}
    parts(alone, 2)
    assert not [one for one in kept.values() if one is beginnings.ONCE]


def test_large_parts_are_made_for_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beginnings, "MOST_BYTES", 0)
    parts(WORLD, 1)
    parts(WORLD, 2)
    assert [*kept.values()] == [None] * ONCE
    assert differences(WORLD) == []


def test_parts_of_a_users_policy_are_made_for_each_run() -> None:
    class HighestTwice(Lowest):
        """Is a user's."""

    parts(WORLD._replace(policies={**WORLD.policies, "frames": HighestTwice()}), 1)
    assert len(kept) == ONCE - 1


def test_runs_leave_the_plan_that_they_share_as_it_is() -> None:
    sweep: dict[str, Any] = {"engine": "node", "workload": {"synthetic": "small_kernels", "kernels": 2}, "seeds": 1}
    sweep |= {"machine": {"cards": 2, "modules": 2}, "measures": ["makespan_cycles"]}
    setup = wb.plan(sweep).points[0].setup
    node = Node()
    shared = node.read(node.given(setup, 1))[1:]
    before = [plain(value) for _, value in leaves(shared) if isinstance(value, np.ndarray)]
    node.simulate(setup, 1)
    again = node.read(node.given(setup, 1))[1:]
    assert again[0] is shared[0]
    assert [plain(value) for _, value in leaves(again) if isinstance(value, np.ndarray)] == before
