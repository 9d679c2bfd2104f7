"""Every policy of every engine keeps the conservation laws of the specifications, in fixed small worlds."""

from __future__ import annotations

import pytest

from tests.engines.conservation import dispatch, malloc, node, pool, shared_memory, torch_allocator, translation
from tests.engines.conservation.laws import Suite
from workbench.mechanisms.mechanism import mechanisms
from workbench.policies.policy import questions

SUITES = [one.SUITE for one in (dispatch, malloc, node, pool, shared_memory, torch_allocator, translation)]
MARKS = {"node": [pytest.mark.node]}
SLOTS = [
    pytest.param(suite, slot, id=f"{suite.engine.name}-{slot}", marks=MARKS.get(suite.engine.name, []))
    for suite in SUITES
    for slot in suite.engine.slots
]


def test_the_worlds_of_an_engine_without_policies_keep_its_laws() -> None:
    runs = list(torch_allocator.SUITE.plain_runs())
    assert [sentence for run in runs for sentence in torch_allocator.SUITE.broken(run)] == []
    for run in runs:
        torch_allocator.SUITE.check(run)


@pytest.mark.parametrize(("suite", "slot"), SLOTS)
def test_laws_do_not_depend_on_the_policy(suite: Suite, slot: str) -> None:
    """No run breaks a law, and every exception is one: its policy breaks the law in some world."""
    runs = list(suite.runs(slot))
    assert [sentence for run in runs for sentence in suite.broken(run)] == []
    for run in runs:
        suite.check(run)
    for law in suite.laws:
        possible = {name for run in runs for name in law.excuses(slot, run.setup.policies[slot])}
        used = {name for run in runs if not law.holds(run) for name in law.excuses(slot, run.setup.policies[slot])}
        assert used == possible, f"{law.name}: never broken by {', '.join(sorted(possible - used))}"
    every = {policy.name for policy in suite.policies(slot)}
    assert every - {run.setup.policies[slot].name for run in runs} == refused(suite, slot)


def refused(suite: Suite, slot: str) -> set[str]:
    """Return the policies of a slot that a suite says are refused, which they have to be."""
    named = [policy for policy in suite.policies(slot) if suite.refusals(slot, policy)]
    assert [policy for policy in named if not suite.is_refused(slot, policy)] == []
    return {policy.name for policy in named if f"{slot}={policy.name}" in suite.refused}


def test_every_engine_and_every_question_has_laws() -> None:
    assert {suite.engine.name for suite in SUITES} == set(mechanisms())
    asked = {suite.engine.question_of(slot) for suite in SUITES for slot in suite.engine.slots}
    assert asked == set(questions())
