"""The contract of policies for admission catches what it is for: each test is fed a policy that breaks it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.slow import compiled_only
from workbench.errors import InputError, PolicyError
from workbench.levers import lever
from workbench.policies.contract import check
from workbench.policies.dispatch.admission import Admission, AdmissionContract, Exclusive, OpenToAll


class AtMost(Admission):
    """An own policy: at most so many groups a module, and no more than two modules a channel on the last die."""

    limit: int = lever(2, least=1, most=64, unit="groups", description="the most groups of a module")

    def answer(see):
        return int(see.groups < see.levers.limit and (see.die == 0 or see.modules_held < 2))


class TestAtMost(AdmissionContract):
    policy = AtMost(limit=3)


class Counts(Admission):
    """Answers how many groups there are."""

    def answer(see):
        return see.groups


class Raising(Admission):
    def answer(see):
        if see.groups > 1:
            raise ValueError("too full")
        return 1


class BeyondTheArray(Admission):
    def answer(see):
        return 1 + (see.here[see.here.size] & 0)


class WritingToTheGroups(Admission):
    def answer(see):
        see.here[0] += 1
        return 1


class OtherwiseInPython(Admission):
    """Compiled code wraps around where Python counts on."""

    def answer(see):
        return int((1 << 62) * (2 + 0 * see.module) > 0)


class ClaimsToDraw(OpenToAll):
    draws = True


class ClaimsToBeNeutral(Exclusive):
    def neutral(self) -> bool:
        return True


class Unreadable(Admission):
    depth: int = lever(1, least=1, most=4, description="how deep")

    def answer(see):
        return 1

    def plain(self) -> dict[str, Any]:
        return {}


class Lax(Unreadable):
    def but(self, **values: Any) -> Lax:
        return self


def broken(policy: Admission, test: str) -> None:
    class Contract(AdmissionContract):
        sizes = (4,)

    Contract.policy = policy
    getattr(Contract(), test)()


@pytest.mark.parametrize(
    ("policy", "test"),
    [
        (Counts(), "test_answers_are_allowed"),
        (Raising(), "test_answers_are_allowed"),
        (BeyondTheArray(), "test_stays_within_its_arrays"),
        (ClaimsToDraw(), "test_memory_belongs_to_the_run"),
        (ClaimsToBeNeutral(), "test_admits_every_group_if_it_says_so"),
        (Unreadable(depth=3), "test_yaml_and_back"),
        (Lax(), "test_refuses_wrong_levers"),
        pytest.param(OtherwiseInPython(), "test_compiled_and_plain_answers_agree", marks=compiled_only),
        pytest.param(OtherwiseInPython(), "test_answers_the_same_in_a_fresh_interpreted_process", marks=compiled_only),
    ],
    ids=lambda value: value.name if isinstance(value, Admission) else value,
)
def test_the_contract_has_been_seen_failing(policy, test):
    with pytest.raises((AssertionError, PolicyError)):
        broken(policy, test)
    broken(AtMost(), test)


def test_catches_writing_to_what_is_resident():
    with pytest.raises(AssertionError, match="here is another afterwards"):
        broken(WritingToTheGroups(), "test_leaves_its_inputs_alone")


@pytest.mark.parametrize("policy", [AtMost(), Exclusive()], ids=lambda it: it.name)
def test_check_accepts(policy):
    check(policy)


def test_check_names_the_group_and_the_module():
    with pytest.raises(
        PolicyError, match=r"^counts answered [2-9], not 0 or 1, for .*channel \d+, kernel \d+"
    ) as wrong:
        check(Counts())
    assert "\n" not in str(wrong.value)


def test_an_own_rule_is_asked_like_any():
    held = [[(0, 0)], [(0, 0), (0, 0)], []]
    assert [AtMost().admits(held, module) for module in range(3)] == [True, False, True]
    assert [AtMost().admits(held, module, die=1) for module in range(3)] == [False, False, False]


class Sees(Admission):
    """Answers yes where all that it sees is what the question says of one scene."""

    def answer(see):
        lists = see.here.tolist() == [1, 0, 2] and see.own.tolist() == [2, 0, 1]
        head = see.channel == 2 and see.kernel == 5 and see.priority == 3 and see.die == 1
        return int(lists and head and see.module == 0 and see.modules == 3 and see.groups == 3)


def test_it_is_shown_who_is_resident():
    held = [[(2, 5), (2, 4), (0, 5)], [(1, 5)], [(2, 2)]]
    head = {"channel": 2, "kernel": 5, "priority": 3, "die": 1}
    assert Sees().admits(held, 0, **head)
    assert not Sees().admits(held, 1, **head)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"held": [], "module": 0}, "held must have a list of groups for at least one module. Got []."),
        ({"held": [[]], "module": 1}, "module must be a whole number from 0 to 0. Got 1. Nearest: 0."),
        ({"held": [[0]], "module": 0}, "held[0][0] must be "),
        ({"held": [[]], "module": 0, "chanel": 1}, "unknown name 'chanel'; there are channel, die, kernel, priority. "),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(given, says):
    with pytest.raises(InputError) as wrong:
        OpenToAll().admits(**given)
    assert str(wrong.value).startswith(says)
