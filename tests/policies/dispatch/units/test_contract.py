"""The contract of policies for units catches what it is for: each test is fed a policy that breaks it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.slow import compiled_only
from workbench.errors import PolicyError
from workbench.levers import lever
from workbench.policies.dispatch.units import LeastLoaded, NoRotation, RotatedSplit, Units, UnitsContract, share_out


class LastUnitFirst(Units):
    """An own policy: evenly, the last units served first."""

    def answer(see):
        for unit in range(see.units):
            see.counts[see.units - 1 - unit] = see.waves // see.units + (unit < see.waves % see.units)
        return see.pointer


class TestLastUnitFirst(UnitsContract):
    policy = LastUnitFirst()


class Losing(Units):
    def answer(see):
        share_out(see.waves - 1, see.units, 0, see.counts)
        return see.pointer


class Lending(Units):
    def answer(see):
        share_out(see.waves, see.units, 0, see.counts)
        see.counts[0] += see.units
        see.counts[see.units - 1] -= see.units
        return see.pointer


class Raising(Units):
    def answer(see):
        share_out(see.waves, see.units, 0, see.counts)
        if see.waves > 3:
            raise ValueError("too many")
        return see.pointer


class Adding(Units):
    """Adds to what stands in the counts."""

    def answer(see):
        for unit in range(see.units):
            see.counts[unit] += see.waves // see.units + (unit < see.waves % see.units)
        return see.pointer


class BeyondTheArray(Units):
    def answer(see):
        share_out(see.waves, see.units, 0, see.counts)
        return see.pointer + (see.taken[see.units] & 0)


class WritingToTheLoads(Units):
    def answer(see):
        share_out(see.waves, see.units, 0, see.counts)
        see.taken[0] += 1
        return see.pointer


class OtherwiseInPython(Units):
    """Compiled code wraps around where Python counts on."""

    def answer(see):
        share_out(see.waves, see.units, 0, see.counts)
        return 1 if (see.waves << 62) > 0 else 2


class ClaimsToDraw(NoRotation):
    draws = True


class ClaimsToLookAway(LeastLoaded):
    def by_pointer(self) -> bool:
        return True


class Unreadable(Units):
    depth: int = lever(1, least=1, most=4, description="how deep")

    def answer(see):
        share_out(see.waves, see.units, 0, see.counts)
        return see.pointer

    def plain(self) -> dict[str, Any]:
        return {}


class Lax(Unreadable):
    def but(self, **values: Any) -> Lax:
        return self


def broken(policy: Units, test: str) -> None:
    class Contract(UnitsContract):
        sizes = (4,)

    Contract.policy = policy
    getattr(Contract(), test)()


@pytest.mark.parametrize(
    ("policy", "test"),
    [
        (Losing(), "test_answers_are_allowed"),
        (Lending(), "test_answers_are_allowed"),
        (Raising(), "test_answers_are_allowed"),
        (LeastLoaded(), "test_evenly_or_not"),
        (Adding(), "test_the_counts_do_not_depend_on_what_stood_there"),
        (BeyondTheArray(), "test_stays_within_its_arrays"),
        (ClaimsToLookAway(), "test_the_pointer_alone_counts_where_it_says_so"),
        (ClaimsToDraw(), "test_memory_belongs_to_the_run"),
        (Unreadable(depth=3), "test_yaml_and_back"),
        (Lax(), "test_refuses_wrong_levers"),
        pytest.param(OtherwiseInPython(), "test_compiled_and_plain_answers_agree", marks=compiled_only),
        pytest.param(OtherwiseInPython(), "test_answers_the_same_in_a_fresh_interpreted_process", marks=compiled_only),
    ],
    ids=lambda value: value.name if isinstance(value, Units) else value,
)
def test_catches(policy, test):
    with pytest.raises((AssertionError, PolicyError)):
        broken(policy, test)


def test_catches_one_that_says_it_is_uneven():
    class Contract(UnitsContract):
        policy = RotatedSplit()
        sizes = (4,)
        evenly = False

    with pytest.raises(AssertionError, match="evenly is False"):
        Contract().test_evenly_or_not()


def test_catches_writing_to_the_loads():
    with pytest.raises(AssertionError, match="taken is another afterwards"):
        broken(WritingToTheLoads(), "test_leaves_its_inputs_alone")


def test_an_own_split_is_asked_like_any():
    assert LastUnitFirst().split(waves=5, units=4) == ([1, 1, 1, 2], 0)
    assert np.sum(LastUnitFirst().split(waves=9, units=2)[0]) == 9
