"""The contract and the quick check catch what they are for: each is fed a policy that breaks it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.slow import compiled_only
from workbench.errors import PolicyError
from workbench.levers import lever
from workbench.policies.contract import check
from workbench.policies.placement import FirstFit
from workbench.policies.placement.contract import PlacementContract
from workbench.policies.placement.question import Placement
from workbench.structures.bitmaps import first_start, is_free


class MiddleOut(Placement):
    """Take the feasible start nearest to the middle; the lower one wins a tie."""

    shift: int = lever(0, least=-64, most=64, unit="segments", description="how far above the middle to aim")

    def answer(see):
        best, middle = -1, (see.segments - see.length) // 2 + see.levers.shift
        for start in range(see.segments - see.length + 1):
            if is_free(see.free, start, see.length) and (best < 0 or abs(start - middle) < abs(best - middle)):
                best = start
        return best


class TestMiddleOut(PlacementContract):
    policy = MiddleOut(shift=8)


class Occupied(Placement):
    def answer(see):
        return 3


class TooHigh(Placement):
    def answer(see):
        start = first_start(see.free, see.length, 0)
        return -1 if start < 0 else see.segments - see.length + 1


class Raising(Placement):
    def answer(see):
        if see.length > 3:
            raise ValueError("too long")
        return first_start(see.free, see.length, 0)


class BeyondTheArray(Placement):
    def answer(see):
        return first_start(see.free, see.length, 0) if see.free[see.free.size] == 0 else -1


class Refusing(Placement):
    def answer(see):
        return first_start(see.free, see.length, 0) if see.length < 3 else -1


class Endless(Placement):
    def answer(see):
        turns = see.length
        while turns > 0:
            turns = turns * 5 // 3 + 1 if turns < 100 else turns - 50
        return turns


class RaisingWhenTold(Placement):
    def answer(see):
        return first_start(see.free, see.length, 0)

    def granted(see):
        see.memory[1] = see.start

    def released(see):
        see.memory[0] = 0


class WritingToTheMap(Placement):
    def answer(see):
        start = first_start(see.free, see.length, 0)
        see.free[0] = see.free[0] & see.free[0]
        return start


class OtherParameters(Placement):
    def answer(free, segments, length):
        return first_start(free, length, 0)


class NotCompilable(Placement):
    def answer(see):
        return max((k for k in range(see.segments)), key=lambda k: k)


class SharedMemory(Placement):
    kept = np.zeros(1, np.int64)

    def answer(see):
        return first_start(see.free, see.length, 0)

    def start_memory(self, segments: int, seed: int) -> np.ndarray:
        return self.kept


class Forgetful(Placement):
    """Answers from a memory that it changes at every question."""

    def answer(see):
        see.memory[0] += 1
        start = first_start(see.free, see.length, 0)
        again = first_start(see.free, see.length, start + 1) if start >= 0 else -1
        return again if see.memory[0] % 2 and again >= 0 else start


class Unreadable(Placement):
    """Writes itself down so that it cannot be read again."""

    depth: int = lever(1, least=1, most=4, description="how deep")

    def answer(see):
        return first_start(see.free, see.length, 0)

    def plain(self) -> dict[str, Any]:
        return {}


class Shrinking(Placement):
    def answer(see):
        return first_start(see.free, see.length, 0)

    def footprint(self, length: Any, segments: int) -> Any:
        return np.maximum(np.asarray(length) - 1, 1)


class ClaimsToRefuse(Placement):
    def answer(see):
        return first_start(see.free, see.length, 0)

    def work_conserving(self) -> bool:
        return False


class ClaimsToWait(Placement):
    def answer(see):
        return first_start(see.free, see.length, 0)

    def serves_empty(self) -> bool:
        return False


class Lax(Placement):
    """Takes any value for its lever."""

    def answer(see):
        return first_start(see.free, see.length, 0)

    def but(self, **values: Any) -> Lax:
        return self


@pytest.mark.parametrize(
    "policy",
    [FirstFit(), *(pytest.param(MiddleOut(shift=shift), marks=pytest.mark.slow) for shift in (0, -3)), Forgetful()],
)
def test_check_accepts(policy):
    check(policy)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Occupied(), r"occupied answered 3 for \d+ segments? in the state [01]+, but \[3, \d+\) is not free\."),
        (TooHigh(), r"too_high answered \d+ for \d+ segments? in the state [01]+, but"),
        (
            Raising(),
            r"raised ValueError \(too long\) in test_contract.py, line \d+, for \d+ segments? in the state [01]+\.",
        ),
        (BeyondTheArray(), r"beyond_the_array raised IndexError .* in the state [01]+\."),
        (Refusing(), r"refusing refused \d+ segments in the state [01]+, which fits"),
        (RaisingWhenTold(), r"raising_when_told raised IndexError .* for \[\d+, \d+\) in the state [01]+\."),
        (OtherParameters(), r"takes one view, def answer\(see\), .* Got \(free, segments, length\)\."),
    ],
    ids=lambda value: value.name if isinstance(value, Placement) else "",
)
def test_check_names_the_state_and_the_answer(policy, says):
    with pytest.raises(PolicyError, match=says) as refused:
        check(policy)
    assert "\n" not in str(refused.value)


@compiled_only
@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Endless(), r"endless did not end within .* for \d+ segments?"),
        (WritingToTheMap(), r"does not compile: it writes to an array that it may only read"),
        (NotCompilable(), r"NotCompilable\.answer does not compile"),
    ],
    ids=lambda value: value.name if isinstance(value, Placement) else "",
)
def test_check_of_compilation(policy, says):
    with pytest.raises(PolicyError, match=says) as refused:
        check(policy)
    assert "\n" not in str(refused.value)


def broken(policy: Placement, test: str) -> None:
    class Contract(PlacementContract):
        sizes = (2, 16, 65)
        steps = 80

    Contract.policy = policy
    getattr(Contract(), test)()


@pytest.mark.parametrize(
    ("policy", "test"),
    [
        (Occupied(), "test_answers_are_allowed"),
        (Refusing(), "test_answers_are_allowed"),
        (Refusing(), "test_an_empty_memory_serves_every_request"),
        (ClaimsToRefuse(), "test_refuses_what_fits_if_it_says_that_it_may"),
        (ClaimsToWait(), "test_an_empty_memory_serves_every_request"),
        (SharedMemory(), "test_memory_belongs_to_the_run"),
        (Shrinking(), "test_footprints_and_durations"),
        (Unreadable(depth=3), "test_yaml_and_back"),
        (Lax(), "test_refuses_wrong_levers"),
    ],
    ids=lambda value: value.name if isinstance(value, Placement) else value,
)
def test_the_contract_has_been_seen_failing(policy, test):
    with pytest.raises(AssertionError):
        broken(policy, test)
    broken(FirstFit(), test)


@compiled_only
@pytest.mark.parametrize("policy", [Occupied(), RaisingWhenTold(), BeyondTheArray()], ids=lambda policy: policy.name)
def test_the_contract_runs_the_check(policy):
    with pytest.raises(PolicyError):
        broken(policy, "test_stays_within_its_arrays")


class DiffersByProcess(Placement):
    """Compiled whole numbers wrap at 64 bits, those of plain Python do not."""

    def answer(see):
        wide = 1 << 62
        start = first_start(see.free, see.length, 0)
        again = first_start(see.free, see.length, start + 1) if wide * 2 > 0 and start >= 0 else -1
        return again if again >= 0 else start


@compiled_only
def test_the_contract_compares_compiled_with_plain():
    with pytest.raises(AssertionError, match=r"answered \d+ compiled and \d+ in plain Python"):
        broken(DiffersByProcess(), "test_compiled_and_plain_answers_agree")
    with pytest.raises(PolicyError, match=r"answered \d+ compiled and \d+ in plain Python, for"):
        check(DiffersByProcess())


def test_the_contract_compares_processes(monkeypatch):
    monkeypatch.setattr("workbench.policies.contract.digest", lambda walked: "another")
    with pytest.raises(AssertionError):
        broken(FirstFit(), "test_answers_the_same_in_a_fresh_interpreted_process")
