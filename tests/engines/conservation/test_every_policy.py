"""Every policy of every engine keeps the conservation laws of the specifications, in fixed small worlds.

Those of the engine `node`, which compiles for a minute, stand in `tests/engines/node/test_conservation.py`.
"""

from __future__ import annotations

import pytest

from tests.engines.conservation import dispatch, malloc, node, pool, shared_memory, torch_allocator, translation
from tests.engines.conservation.laws import Suite
from workbench.mechanisms.mechanism import mechanisms
from workbench.policies.policy import questions

FAST = [one.SUITE for one in (dispatch, malloc, pool, shared_memory, translation)]
SUITES = [*FAST, node.SUITE, torch_allocator.SUITE]
SLOTS = [pytest.param(suite, slot, id=f"{suite.engine.name}-{slot}") for suite in FAST for slot in suite.engine.slots]


@pytest.mark.parametrize(("suite", "slot"), SLOTS)
def test_laws_do_not_depend_on_the_policy(suite: Suite, slot: str) -> None:
    suite.assert_lawful(slot)


def test_the_worlds_of_an_engine_without_policies_keep_its_laws() -> None:
    runs = list(torch_allocator.SUITE.plain_runs())
    assert [sentence for run in runs for sentence in torch_allocator.SUITE.broken(run)] == []
    for run in runs:
        torch_allocator.SUITE.check(run)


def test_every_engine_and_every_question_has_laws() -> None:
    assert {suite.engine.name for suite in SUITES} == set(mechanisms())
    answered = {suite.engine.question_of(slot) for suite in SUITES for slot in suite.engine.slots}
    assert answered == set(questions())
