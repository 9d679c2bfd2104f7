"""The contract and the quick check of policies for stuck groups catch what they are for."""

from __future__ import annotations

import pytest

from tests.slow import compiled_only
from workbench.errors import PolicyError
from workbench.levers import lever
from workbench.policies.contract import check
from workbench.policies.dispatch import NeverSplit, SplitWhenStuck
from workbench.policies.dispatch.stuck import Stuck, StuckContract


class Quarters(Stuck):
    """Split a group into four, or as many as it has waves. What a user may write in a notebook."""

    after: int = lever(8, least=1, most=64, unit="rounds", description="failed rounds before a split")

    def answer(see):
        return min(see.waves, 4) if see.independent else 1

    def patience(self) -> int:
        return self.after


class TestQuarters(StuckContract):
    policy = Quarters(after=3)


class SplitsRelated(Stuck):
    def answer(see):
        return see.waves


class TooMany(Stuck):
    def answer(see):
        return see.waves + 1 if see.independent else 1


class Raising(Stuck):
    def answer(see):
        if see.waves > 3:
            raise ValueError("too many")
        return 1


class WithoutPatience(NeverSplit):
    def patience(self) -> int:
        return -1


@pytest.mark.parametrize(
    "policy", [Quarters(), pytest.param(NeverSplit(), marks=pytest.mark.slow), SplitWhenStuck()], ids=lambda it: it.name
)
def test_check_accepts(policy):
    check(policy)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (SplitsRelated(), r"^splits_related splits into \d+, for waves \d+, independent 0, priority 1, levels 1\.$"),
        (TooMany(), r"^too_many splits into 2, for waves 1, independent 1, priority 1, levels 1\.$"),
        (
            Raising(),
            r"^raising raised ValueError \(too many\) in test_contract.py, line \d+, for waves 4",
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Stuck) else "",
)
def test_check_names_the_group(policy, says):
    with pytest.raises(PolicyError, match=says) as refused:
        check(policy)
    assert "\n" not in str(refused.value)


def broken(policy: Stuck, test: str) -> None:
    class Contract(StuckContract):
        pass

    Contract.policy = policy
    getattr(Contract(), test)()


@pytest.mark.parametrize(
    ("policy", "test"),
    [
        (SplitsRelated(), "test_answers_are_allowed"),
        (TooMany(), "test_answers_are_allowed"),
        (TooMany(), "test_no_wave_is_lost"),
        (WithoutPatience(), "test_what_it_asks_of_the_engine"),
    ],
    ids=lambda value: value.name if isinstance(value, Stuck) else value,
)
def test_the_contract_has_been_seen_failing(policy, test):
    with pytest.raises(AssertionError):
        broken(policy, test)
    broken(SplitWhenStuck(), test)


def test_the_contract_runs_the_check():
    with pytest.raises(PolicyError):
        broken(Raising(), "test_stays_within_its_arrays")


class DiffersByProcess(Stuck):
    """Compiled whole numbers wrap at 64 bits, those of plain Python do not."""

    def answer(see):
        wide = 1 << 62
        return int(wide * 2 < 0)


@compiled_only
def test_the_contract_compares_compiled_with_plain():
    with pytest.raises(AssertionError):
        broken(DiffersByProcess(), "test_compiled_and_plain_answers_agree")
    with pytest.raises(PolicyError, match=r"answered 1 compiled and 0 in plain Python, for waves"):
        check(DiffersByProcess())


def test_the_contract_compares_processes(monkeypatch):
    monkeypatch.setattr("workbench.policies.contract.digest", lambda walked: "another")
    with pytest.raises(AssertionError):
        broken(NeverSplit(), "test_answers_the_same_in_a_fresh_interpreted_process")
