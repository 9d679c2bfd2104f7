"""The contract and the quick check catch what they are for: each is fed a probe that breaks it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.slow import compiled_only
from workbench.errors import PolicyError
from workbench.levers import lever
from workbench.policies.contract import check
from workbench.policies.probes import ExactRun, GroupedRun, Probe
from workbench.policies.probes.contract import ProbeContract
from workbench.policies.probes.gate_list import GateList
from workbench.structures.bitmaps import count_free, is_free, longest_run


class FirstRun(Probe):
    """Report the run at the lowest free block, if it is within the first `reach` blocks; there are no ties."""

    reach: int = lever(4, least=1, most=4096, unit="blocks", description="how far to look")

    def answer(see):
        start = 0
        while start < min(int(see.levers[0]), see.blocks) and not is_free(see.free, start, 1):
            start += 1
        length = 0
        while start + length < see.blocks and is_free(see.free, start, length + 1):
            length += 1
        return length

    def exact(self, blocks: int) -> bool:
        return False


class TestFirstRun(ProbeContract):
    policy = FirstRun(reach=9)
    sizes = (16, 64, 129)


class TooMuch(Probe):
    def answer(see):
        return count_free(see.free)


class TooLittle(Probe):
    def answer(see):
        return longest_run(see.free) // 2


class BeyondAll(Probe):
    def answer(see):
        return see.blocks + 1

    def never_more(self) -> bool:
        return False


class ClaimsToBeLess(Probe):
    def answer(see):
        return longest_run(see.free)

    def exact(self, blocks: int) -> bool:
        return False


class ClaimsToBeMore(Probe):
    def answer(see):
        return longest_run(see.free)

    def never_more(self) -> bool:
        return False


class Raising(Probe):
    def answer(see):
        if longest_run(see.free) > 3:
            raise ValueError("too long")
        return longest_run(see.free)


class BeyondTheArray(Probe):
    def answer(see):
        return longest_run(see.free) if see.free[see.free.size] == 0 else 0


class Endless(Probe):
    def answer(see):
        turns = see.blocks
        while turns > 0:
            turns = turns * 5 // 3 + 1 if turns < 100 else turns - 50
        return turns


class WritingToTheMap(Probe):
    def answer(see):
        see.free[0] = see.free[0] & see.free[0]
        return longest_run(see.free)


class OtherParameters(Probe):
    def answer(free, blocks):
        return longest_run(free)


class Unreadable(Probe):
    depth: int = lever(1, least=1, most=4, description="how deep")

    def answer(see):
        return longest_run(see.free)

    def plain(self) -> dict[str, Any]:
        return {}


class Lax(Probe):
    def answer(see):
        return longest_run(see.free)

    def but(self, **values: Any) -> Lax:
        return self


class OtherGates(Probe):
    def answer(see):
        return longest_run(see.free)

    def gate_list(self, blocks: int) -> GateList:
        return ExactRun().gate_list(blocks)._replace(report=ExactRun().gate_list(blocks).report[::-1])


class OtherCycles(Probe):
    def answer(see):
        return longest_run(see.free)

    def gate_list(self, blocks: int) -> GateList:
        return ExactRun(timing="pipe_3cycle").gate_list(blocks)


class NowhereAtHome(Probe):
    def answer(see):
        return longest_run(see.free)

    def check_blocks(self, blocks: int, path: str = "", where: str = "", resource: str = "") -> None:
        GroupedRun(groups=1000).check_blocks(blocks)


LARGE = [pytest.param(probe, marks=pytest.mark.slow) for probe in (ExactRun(), GroupedRun(groups=4))]


@pytest.mark.parametrize("probe", [FirstRun(), FirstRun(reach=1), *LARGE])
def test_check_accepts(probe):
    check(probe)


@pytest.mark.parametrize(
    ("probe", "says"),
    [
        (TooMuch(), r"too_much reported \d+ for the state [01]+, whose longest run is \d+\."),
        (TooLittle(), r"too_little reported \d+ for the state [01]+, whose longest run is \d+; .* overrides exact\."),
        (BeyondAll(), r"beyond_all reported 17 for the state [01]+, whose longest run is \d+\."),
        (Raising(), r"raising raised ValueError \(too long\) in test_contract.py, line \d+, for the state [01]+\."),
        (BeyondTheArray(), r"beyond_the_array raised IndexError .* the state [01]+\."),
        (OtherParameters(), r"takes one view, def answer\(see\), whose fields are .*\. Got \(free, blocks\)\."),
    ],
    ids=lambda value: value.name if isinstance(value, Probe) else "",
)
def test_check_names_the_state_and_the_report(probe, says):
    with pytest.raises(PolicyError, match=says) as refused:
        check(probe)
    assert "\n" not in str(refused.value)


@compiled_only
@pytest.mark.parametrize(
    ("probe", "says"),
    [
        (Endless(), r"endless did not end within .* for the state"),
        (WritingToTheMap(), r"does not compile: it writes to an array that it may only read"),
    ],
    ids=lambda value: value.name if isinstance(value, Probe) else "",
)
def test_check_of_compilation(probe, says):
    with pytest.raises(PolicyError, match=says) as refused:
        check(probe)
    assert "\n" not in str(refused.value)


def broken(probe: Probe, test: str) -> None:
    class Contract(ProbeContract):
        sizes = (2, 16, 65)
        count = 20

    Contract.policy = probe
    getattr(Contract(), test)()


@pytest.mark.parametrize(
    ("probe", "test"),
    [
        (NowhereAtHome(), "test_can_be_built_for_some_of_the_sizes"),
        (TooMuch(), "test_answers_are_allowed"),
        (BeyondAll(), "test_answers_are_allowed"),
        (ClaimsToBeMore(), "test_errs_where_it_says_so"),
        (TooLittle(), "test_answers_are_allowed"),
        (ClaimsToBeLess(), "test_errs_where_it_says_so"),
        (OtherGates(), "test_gates_compute_the_report"),
        (OtherCycles(), "test_costs_are_counts_and_cycles_are_those_of_a_round"),
        (Unreadable(depth=3), "test_yaml_and_back"),
        (Lax(), "test_refuses_wrong_levers"),
    ],
    ids=lambda value: value.name if isinstance(value, Probe) else value,
)
def test_the_contract_has_been_seen_failing(probe, test):
    with pytest.raises(AssertionError):
        broken(probe, test)
    broken(ExactRun(), test)


@compiled_only
@pytest.mark.parametrize("probe", [TooMuch(), BeyondTheArray()], ids=lambda probe: probe.name)
def test_the_contract_runs_the_check(probe):
    with pytest.raises(PolicyError):
        broken(probe, "test_stays_within_its_arrays")


class DiffersByProcess(Probe):
    """Compiled whole numbers wrap at 64 bits, those of plain Python do not."""

    def answer(see):
        wide = 1 << 62
        return max(longest_run(see.free) - int(wide * 2 > 0), 0)


@compiled_only
def test_the_contract_compares_compiled_with_plain():
    with pytest.raises(AssertionError, match=r"answered \d+ compiled and \d+ in plain Python"):
        broken(DiffersByProcess(), "test_compiled_and_plain_answers_agree")
    with pytest.raises(PolicyError, match=r"answered \d+ compiled and \d+ in plain Python, for"):
        check(DiffersByProcess())


def test_the_contract_compares_processes(monkeypatch):
    monkeypatch.setattr("workbench.policies.contract.digest", lambda walked: "another")
    with pytest.raises(AssertionError):
        broken(ExactRun(), "test_answers_the_same_in_a_fresh_interpreted_process")
