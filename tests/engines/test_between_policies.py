"""Policies for dies and admission against the slow twin of specification 7, in random cases of a fixed seed."""

from __future__ import annotations

import pytest

from tests.engines.between_twin import differences
from tests.engines.dispatch_policies import BETWEEN
from tests.oracles.between_cases import cases, uses
from tests.oracles.between_queue_and_unit import play
from tests.oracles.between_state import Case

LEAST = 2
"""Cases of each policy."""


def with_policies() -> list[Case]:
    """The first cases of the seed in which each policy stands at least so often."""
    missing = {f"{slot} {policy.name}": LEAST for slot, listed in BETWEEN.items() for policy in listed}
    result = []
    for case in cases(400, 7):
        names = {" ".join(use.split()[:2]) for use in uses(case)} & {name for name, count in missing.items() if count}
        for name in names:
            missing[name] -= 1
        if names:
            result.append(case)
    assert not any(missing.values()), missing
    return result


def test_every_policy_decides_as_the_twin_says():
    assert [wrong for case in with_policies() if (wrong := differences(case, play(case)))] == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_cases_equal_the_twin(seed):
    assert [wrong for case in cases(100, seed) if (wrong := differences(case, play(case)))] == []
