"""The contract and the quick check of selections catch what they are for: each is fed a policy that breaks it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.slow import compiled_only
from workbench.errors import InputError, PolicyError
from workbench.levers import lever
from workbench.policies.contract import check
from workbench.policies.dispatch import ChannelRoundRobin, Head, StrictBlocking
from workbench.policies.dispatch.selection.question import Selection, SelectionContract


class MostWaves(Selection):
    """Take the largest group that fits; of equal ones the lowest channel. What a user may write in a notebook."""

    least: int = lever(1, least=1, most=64, unit="waves", description="smaller groups count as this large")

    def answer(see):
        best = -1
        for k in range(see.count):
            if see.fits[k] and (best < 0 or max(see.waves[k], see.levers[0]) > max(see.waves[best], see.levers[0])):
                best = k
        return best


class TestMostWaves(SelectionContract):
    policy = MostWaves(least=4)


class Unfit(Selection):
    def answer(see):
        return 0


class Beyond(Selection):
    def answer(see):
        return see.count if see.count > 1 else 0


class Raising(Selection):
    def answer(see):
        if see.count > 1:
            raise ValueError("too many")
        return 0


class BeyondTheArray(Selection):
    def answer(see):
        return 0 if see.fits[see.fits.size] == 7 else -1


class Endless(Selection):
    def answer(see):
        turns = see.count
        while turns > 0:
            turns = turns * 5 // 3 + 1 if turns < 100 else turns - 50
        return turns


class Picky(Selection):
    """Chooses nobody without having said that it may."""

    def answer(see):
        return -1 if not see.fits[0] else 0


class ClaimsToDecline(Selection):
    def answer(see):
        for k in range(see.count):
            if see.fits[k]:
                return k
        return -1

    def work_conserving(self) -> bool:
        return False


class Patient(ClaimsToDecline):
    """Serves nobody who has not waited long enough: rounds in which only time passes cannot be skipped."""

    def answer(see):
        for k in range(see.count):
            if see.fits[k] and see.waited[k] >= 30:
                return k
        return -1


class Counting(ClaimsToDecline):
    """Remembers rounds in which it chose nobody."""

    def answer(see):
        if not see.fits[0]:
            see.memory[0] += 1
            return -1
        return 0


class SharedMemory(ClaimsToDecline):
    kept = np.zeros(1, np.int64)

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        return self.kept


class Unreadable(ClaimsToDecline):
    depth: int = lever(1, least=1, most=4, description="how deep")

    def plain(self) -> dict[str, Any]:
        return {}


class Lax(ClaimsToDecline):
    def but(self, **values: Any) -> Lax:
        return self


class WritingToTheRanks(Selection):
    def answer(see):
        see.rank[0] = 0
        return 0


class OtherParameters(Selection):
    def answer(cycle, count, fits):
        return 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy",
    [MostWaves(), pytest.param(StrictBlocking(), marks=pytest.mark.slow), ChannelRoundRobin()],
    ids=lambda p: p.name,
)
def test_check_accepts(policy):
    check(policy)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Unfit(), r"^unfit answered 0, which is no group that fits, for cycle \d+, .*\.$"),
        (Beyond(), r"^beyond answered \d+, which is no group that fits"),
        (Raising(), r"^raising raised ValueError \(too many\) in test_contract.py, line \d+, for cycle \d+"),
        (BeyondTheArray(), r"^beyond_the_array raised IndexError .* for cycle \d+"),
        (Picky(), r"^picky chose nobody for .*; one that may do so overrides work_conserving\.$"),
        (Patient(), r"^patient chose nobody for .*, and somebody when only time had passed\.$"),
        (Counting(), r"^counting chose nobody and remembered something, for .*\.$"),
        (OtherParameters(), r"takes one view, def answer\(see\), whose fields are .*\. Got \(cycle, count, fits\)\."),
    ],
    ids=lambda value: value.name if isinstance(value, Selection) else "",
)
def test_check_names_the_round_and_the_answer(policy, says):
    with pytest.raises(PolicyError, match=says) as refused:
        check(policy)
    assert "\n" not in str(refused.value)


@compiled_only
@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Endless(), r"^endless did not end within .* for cycle"),
        (WritingToTheRanks(), r"does not compile: it writes to an array that it may only read"),
    ],
    ids=lambda value: value.name if isinstance(value, Selection) else "",
)
def test_check_of_compilation(policy, says):
    with pytest.raises(PolicyError, match=says):
        check(policy)


def broken(policy: Selection, test: str) -> None:
    class Contract(SelectionContract):
        channels = (1, 3, 8)
        steps = 80

    Contract.policy = policy
    getattr(Contract(), test)()


@pytest.mark.parametrize(
    ("policy", "test"),
    [
        (Unfit(), "test_answers_are_allowed"),
        pytest.param(Beyond(), "test_answers_are_allowed", marks=pytest.mark.slow),
        pytest.param(Picky(), "test_answers_are_allowed", marks=pytest.mark.slow),
        (ClaimsToDecline(), "test_chooses_nobody_if_it_says_that_it_may"),
        pytest.param(Patient(), "test_answers_are_allowed", marks=pytest.mark.slow),
        pytest.param(Counting(), "test_answers_are_allowed", marks=pytest.mark.slow),
        (SharedMemory(), "test_memory_belongs_to_the_run"),
        (Unreadable(depth=3), "test_yaml_and_back"),
        (Lax(), "test_refuses_wrong_levers"),
    ],
    ids=lambda value: value.name if isinstance(value, Selection) else value,
)
def test_the_contract_has_been_seen_failing(policy, test):
    with pytest.raises(AssertionError):
        broken(policy, test)
    broken(ChannelRoundRobin(), test)


def test_the_contract_runs_the_check():
    with pytest.raises(PolicyError):
        broken(Raising(), "test_stays_within_its_arrays")


class DiffersByProcess(Selection):
    """Compiled whole numbers wrap at 64 bits, those of plain Python do not."""

    def answer(see):
        wide = 1 << 62
        result = -1
        for k in range(see.count):
            if see.fits[k] and (result < 0 or wide * 2 > 0):
                result = k
        return result


@pytest.mark.slow
@compiled_only
def test_the_contract_compares_compiled_with_plain():
    with pytest.raises(AssertionError, match=r"answered \d+ compiled and \d+ in plain Python"):
        broken(DiffersByProcess(), "test_compiled_and_plain_answers_agree")
    with pytest.raises(PolicyError, match=r"answered \d+ compiled and \d+ in plain Python"):
        check(DiffersByProcess())


def test_the_contract_compares_processes(monkeypatch):
    monkeypatch.setattr("workbench.policies.contract.digest", lambda walked: "another")
    with pytest.raises(AssertionError):
        broken(ChannelRoundRobin(), "test_answers_the_same_in_a_fresh_interpreted_process")


@pytest.mark.parametrize(
    ("heads", "says"),
    [
        ((0, 3), r"^channel must be from 0 to 2\. Got 3\.$"),
        ((Head(0, priority=6),), r"^priority must be from 1 to 5\. Got 6\.$"),
        ((1, Head(1)), r"^heads must be at most one a channel\. Got \[1, 1\]\.$"),
    ],
)
def test_rounds_that_cannot_be_are_refused(heads, says):
    with pytest.raises(InputError, match=says):
        ChannelRoundRobin().rounds(channels=3).pick(*heads)


def test_a_round_in_which_nothing_fits_asks_nobody():
    rounds = ChannelRoundRobin().rounds(channels=2)
    assert rounds.pick(Head(0, fits=False)) is None
    assert rounds.pick() is None
    assert (rounds.cycle, rounds.memory.tolist()) == (2, [-1])
