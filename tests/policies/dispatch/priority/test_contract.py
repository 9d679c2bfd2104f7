"""The contract and the quick check of priorities catch what they are for: each is fed a policy that breaks it."""

from __future__ import annotations

import pytest

from tests.slow import compiled_only
from workbench.errors import PolicyError
from workbench.levers import lever
from workbench.policies.contract import check
from workbench.policies.dispatch import Ageing, StaticPriority
from workbench.policies.dispatch.priority import Priority, PriorityContract


class Impatient(Priority):
    """Who has waited long enough is first, then by static priority. What a user may write in a notebook."""

    limit: int = lever(100, least=1, most=10_000, unit="cycles", description="how long is long enough")

    def answer(see):
        return see.priority - 100 if see.waited >= see.levers[0] else see.priority


class TestImpatient(PriorityContract):
    policy = Impatient(limit=40)


class PromisesTooMuch(Impatient):
    """Says that an order holds for ever which changes when somebody has waited long enough."""

    def holds_until(see):
        return 1 << 62


class PromisesNothing(StaticPriority):
    def holds_until(see):
        return see.cycle


class Flipping(Priority):
    """Turns the order round at every 64th cycle, one cycle before it is said to."""

    def answer(see):
        return -see.priority if (see.cycle + 1) // 64 % 2 else see.priority

    def holds_until(see):
        return (see.cycle // 64 + 1) * 64


class RaisesWhatIsBelowAll(Priority):
    def answer(see):
        return see.priority % (see.levels + 1)


class Raising(Priority):
    def answer(see):
        if see.waited > 3:
            raise ValueError("too long")
        return see.priority


class BeyondTheArray(Priority):
    def answer(see):
        return see.priority if see.levers[see.levers.size] == 0 else 0


class ForOneOnly(StaticPriority):
    def check_levels(self, levels, path="", where=""):
        assert levels == 1, "made for one"


@pytest.mark.parametrize(
    "policy",
    [Impatient(), pytest.param(Ageing(), marks=pytest.mark.slow), StaticPriority()],
    ids=lambda policy: policy.name,
)
def test_check_accepts(policy):
    check(policy)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (
            Raising(),
            r"^raising raised ValueError \(too long\) in test_contract.py, line \d+, for cycle \d+, priority \d",
        ),
        (BeyondTheArray(), r"^beyond_the_array raised IndexError .* for cycle"),
        (
            PromisesTooMuch(),
            r"^promises_too_much: the order of \(priority, .* changes from \d+ to before \d+\.$",
        ),
        (PromisesNothing(), r"^promises_nothing says that an order holds until 0, which is not later, for cycle 0"),
        pytest.param(Flipping(), r"^flipping: the order of", marks=pytest.mark.slow),
    ],
    ids=lambda value: value.name if isinstance(value, Priority) else "",
)
def test_check_names_the_cycle_and_the_groups(policy, says):
    with pytest.raises(PolicyError, match=says) as refused:
        check(policy)
    assert "\n" not in str(refused.value)


def broken(policy: Priority, test: str) -> None:
    class Contract(PriorityContract):
        pass

    Contract.policy = policy
    getattr(Contract(), test)()


@pytest.mark.parametrize(
    ("policy", "test"),
    [
        pytest.param(PromisesTooMuch(), "test_an_order_holds_as_long_as_it_says", marks=pytest.mark.slow),
        pytest.param(PromisesNothing(), "test_an_order_holds_as_long_as_it_says", marks=pytest.mark.slow),
        pytest.param(Flipping(), "test_an_order_holds_as_long_as_it_says", marks=pytest.mark.slow),
        (RaisesWhatIsBelowAll(), "test_below_all_is_never_more_urgent_than_the_lowest"),
        (ForOneOnly(), "test_serves_its_numbers_of_priorities"),
    ],
    ids=lambda value: value.name if isinstance(value, Priority) else value,
)
def test_the_contract_has_been_seen_failing(policy, test):
    with pytest.raises(AssertionError):
        broken(policy, test)
    broken(StaticPriority(), test)


def test_the_contract_runs_the_check():
    with pytest.raises(PolicyError):
        broken(Raising(), "test_stays_within_its_arrays")


class DiffersByProcess(Priority):
    """Compiled whole numbers wrap at 64 bits, those of plain Python do not."""

    def answer(see):
        wide = 1 << 62
        return see.priority + int(wide * 2 > 0)


@compiled_only
def test_the_contract_compares_compiled_with_plain():
    with pytest.raises(AssertionError):
        broken(DiffersByProcess(), "test_compiled_and_plain_answers_agree")
    with pytest.raises(PolicyError, match=r"answered \d+ compiled and \d+ in plain Python, for cycle"):
        check(DiffersByProcess())


def test_the_contract_compares_processes(monkeypatch):
    monkeypatch.setattr("workbench.policies.contract.digest", lambda walked: "another")
    with pytest.raises(AssertionError):
        broken(StaticPriority(), "test_answers_the_same_in_a_fresh_interpreted_process")
