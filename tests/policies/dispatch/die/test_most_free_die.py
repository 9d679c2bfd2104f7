"""Most free die, and the first that fits: who is taken, and which resource counts (spec 7, R8)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.slow import examples
from workbench.errors import InputError
from workbench.policies.dispatch.die import USUAL, WAIT, DieContract, FirstDie, MostFreeDie


class TestMostFreeDie(DieContract):
    policy = MostFreeDie()


class TestMostFreeRegisters(DieContract):
    policy = MostFreeDie(resource="vgpr")


class TestFirstDie(DieContract):
    policy = FirstDie()


DIES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=16)


@examples(100, 1000)
@given(DIES)
def test_the_lowest_of_the_best_that_fit(dies):
    fits, free = [fit for fit, _, _ in dies], [(a, 0, b, 0, 0) for _, a, b in dies]
    fitting = [die for die, fit in enumerate(fits) if fit]
    for policy, at in ((MostFreeDie(resource="vgpr"), 0), (MostFreeDie(resource="waves"), 2)):
        best = max(fitting, key=lambda die, at=at: free[die][at], default=WAIT)  # the first of equals
        assert policy.die_of(fits, free=free) == best
    assert FirstDie().die_of(fits, free=free) == min(fitting, default=WAIT)


def test_a_resource_stands_where_the_machine_has_it():
    assert MostFreeDie(resource="shared").numbers_on(USUAL).tolist() == [3.0]
    assert MostFreeDie(resource="tickets").numbers_on([*USUAL, "tickets"]).tolist() == [5.0]


def test_a_resource_that_the_machine_lacks_is_refused():
    policy = MostFreeDie(resource="tickets")
    policy.check_resources([*USUAL, "tickets"])
    with pytest.raises(InputError) as wrong:
        policy.check_resources(USUAL, "policy.die.most_free_die")
    assert str(wrong.value) == (
        "unknown resource of policy.die.most_free_die 'tickets'; there are sgpr, shared, vgpr, waves, workgroups."
    )
