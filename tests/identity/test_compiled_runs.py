"""Edits of the table, run: the later run has another id and the number of what executes then."""

import pytest

import workbench as wb
from tests.identity.table import AFTER, BEFORE, CASES, Case, edited, policy
from tests.slow import compiled_only

pytestmark = compiled_only

SWEEP = {
    "engine": "shared_memory",
    "machine": {"segments": 64},
    "workload": {"synthetic": "random_workgroups", "count": 40, "size": {"uniform": [1, 20]}},
    "seeds": 1,
    "measures": ["drain_cycles"],
}


def outcome(placement):
    """Return the id of a policy's run and its number."""
    results = wb.run({**SWEEP, "policy": {"placement": placement}}, workers=0)
    assert list(results.table["error"]) == [""]
    return results.table["run_id"][0], results.table["drain_cycles"][0]


@pytest.fixture(scope="module")
def expected():
    """Return the numbers before and after every edit, from policies with nothing but a constant in them."""
    numbers = []
    for aim in (BEFORE, AFTER):
        with edited(Case("reference", policy(str(aim)))) as here:
            numbers.append(outcome(here.policy)[1])
    assert numbers[0] != numbers[1]
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if case.runs], ids=lambda case: case.name)
def test_an_edited_policy_has_another_id_and_its_own_number(case, expected):
    with edited(case) as here:
        before = outcome(here.policy)
        assert outcome(here.policy) == before
        here.edit()
        after = outcome(here.policy)
    assert before[0] != after[0]
    assert [before[1], after[1]] == expected
