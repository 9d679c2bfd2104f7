"""The contract and the quick check catch what they are for: each is fed a policy that breaks it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workbench.compiled import INTERPRETED
from workbench.errors import PolicyError
from workbench.levers import lever
from workbench.policies.placement import FirstFit
from workbench.policies.placement.contract import PlacementContract, check
from workbench.policies.placement.question import Placement
from workbench.structures.free_map import is_free
from workbench.structures.windows import first_start

compiled_only = pytest.mark.skipif(INTERPRETED, reason="is about compiled code")


class MiddleOut(Placement):
    """Take the feasible start nearest to the middle; the lower one wins a tie."""

    shift: int = lever(0, least=-64, most=64, unit="segments", says="how far above the middle to aim")

    def answer(free, segments, length, params, memory):
        best, middle = -1, (segments - length) // 2 + int(params[0])
        for start in range(segments - length + 1):
            if is_free(free, start, length) and (best < 0 or abs(start - middle) < abs(best - middle)):
                best = start
        return best


class TestMiddleOut(PlacementContract):
    policy = MiddleOut(shift=8)


class Occupied(Placement):
    def answer(free, segments, length, params, memory):
        return 3


class TooHigh(Placement):
    def answer(free, segments, length, params, memory):
        start = first_start(free, length, 0)
        return -1 if start < 0 else segments - length + 1


class Raising(Placement):
    def answer(free, segments, length, params, memory):
        if length > 3:
            raise ValueError("too long")
        return first_start(free, length, 0)


class BeyondTheArray(Placement):
    def answer(free, segments, length, params, memory):
        return first_start(free, length, 0) if free[free.size] == 0 else -1


class Refusing(Placement):
    def answer(free, segments, length, params, memory):
        return first_start(free, length, 0) if length < 3 else -1


class Endless(Placement):
    def answer(free, segments, length, params, memory):
        turns = length
        while turns > 0:
            turns = turns * 5 // 3 + 1 if turns < 100 else turns - 50
        return turns


class RaisingWhenTold(Placement):
    def answer(free, segments, length, params, memory):
        return first_start(free, length, 0)

    def granted(free, segments, start, length, params, memory):
        memory[1] = start

    def released(free, segments, start, length, params, memory):
        memory[0] = 0


class WritingToTheMap(Placement):
    def answer(free, segments, length, params, memory):
        start = first_start(free, length, 0)
        free[0] = free[0] & free[0]
        return start


class OtherParameters(Placement):
    def answer(free, segments, length):
        return first_start(free, length, 0)


class NotCompilable(Placement):
    def answer(free, segments, length, params, memory):
        return max((k for k in range(segments)), key=lambda k: k)


class SharedMemory(Placement):
    kept = np.zeros(1, np.int64)

    def answer(free, segments, length, params, memory):
        return first_start(free, length, 0)

    def start_memory(self, segments: int, seed: int) -> np.ndarray:
        return self.kept


class Forgetful(Placement):
    """Answers from a memory that it changes at every question."""

    def answer(free, segments, length, params, memory):
        memory[0] += 1
        start = first_start(free, length, 0)
        again = first_start(free, length, start + 1) if start >= 0 else -1
        return again if memory[0] % 2 and again >= 0 else start


class Unreadable(Placement):
    """Writes itself down so that it cannot be read again."""

    depth: int = lever(1, least=1, most=4, says="how deep")

    def answer(free, segments, length, params, memory):
        return first_start(free, length, 0)

    def plain(self) -> dict[str, Any]:
        return {}


class Shrinking(Placement):
    def answer(free, segments, length, params, memory):
        return first_start(free, length, 0)

    def footprint(self, length: Any, segments: int) -> Any:
        return np.maximum(np.asarray(length) - 1, 1)


class ClaimsToRefuse(Placement):
    def answer(free, segments, length, params, memory):
        return first_start(free, length, 0)

    def work_conserving(self) -> bool:
        return False


class ClaimsToWait(Placement):
    def answer(free, segments, length, params, memory):
        return first_start(free, length, 0)

    def serves_empty(self) -> bool:
        return False


class Lax(Placement):
    """Takes any value for its lever."""

    def answer(free, segments, length, params, memory):
        return first_start(free, length, 0)

    def but(self, **values: Any) -> Lax:
        return self


@pytest.mark.parametrize("policy", [FirstFit(), MiddleOut(), MiddleOut(shift=-3), Forgetful()])
def test_check_accepts(policy):
    check(policy)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Occupied(), r"occupied answered 3 for \d+ segments? in the state [01]+, but \[3, \d+\) is not free\."),
        (TooHigh(), r"too_high answered \d+ for \d+ segments? in the state [01]+, but"),
        (Raising(), r"raising raised ValueError \(too long\) when asked for \d+ segments? in the state [01]+\."),
        (BeyondTheArray(), r"beyond_the_array raised IndexError .* in the state [01]+\."),
        (Refusing(), r"refusing refused \d+ segments in the state [01]+, which fits"),
        (RaisingWhenTold(), r"raising_when_told raised.* when it was told of a grant of \[\d+, \d+\)\."),
        (OtherParameters(), r"takes \(free, segments, length, params, memory\)\. Got \(free, segments, length\)\."),
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
        (Endless(), r"endless did not come to an end when asked for \d+ segments?"),
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
        (Occupied(), "test_grants_lie_in_free_segments"),
        (Refusing(), "test_refuses_only_what_it_may"),
        (Refusing(), "test_an_empty_memory_serves_every_request"),
        (ClaimsToRefuse(), "test_refuses_only_what_it_may"),
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

    def answer(free, segments, length, params, memory):
        wide = 1 << 62
        start = first_start(free, length, 0)
        again = first_start(free, length, start + 1) if wide * 2 > 0 and start >= 0 else -1
        return again if again >= 0 else start


@compiled_only
def test_the_contract_compares_compiled_with_plain():
    with pytest.raises(AssertionError, match=r"\d+ plain, \d+ compiled"):
        broken(DiffersByProcess(), "test_compiled_and_plain_answers_agree")
    with pytest.raises(PolicyError, match=r"answered \d+ compiled and \d+ in plain Python, for"):
        check(DiffersByProcess())


def test_the_contract_compares_processes(monkeypatch):
    monkeypatch.setattr("workbench.policies.placement.contract.digest", lambda policy, speaker: "another")
    with pytest.raises(AssertionError):
        broken(FirstFit(), "test_answers_the_same_in_a_fresh_interpreted_process")
