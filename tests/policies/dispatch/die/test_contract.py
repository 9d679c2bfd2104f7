"""The contract of policies for dies catches what it is for: each test is fed a policy that breaks it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.slow import compiled_only
from workbench.errors import InputError, PolicyError
from workbench.levers import lever
from workbench.policies.contract import check
from workbench.policies.dispatch.die import ALL, WAIT, AnyDie, Die, DieContract, FirstDie


class LastDie(Die):
    """An own policy: the highest die that fits some modules, otherwise none."""

    least: int = lever(1, least=1, most=64, unit="modules", description="modules that it must fit")

    def answer(see):
        for die in range(see.dies - 1, -1, -1):
            if see.fits[die] >= see.levers.least:
                return die
        return WAIT


class TestLastDie(DieContract):
    policy = LastDie(least=2)


class NoSuchDie(Die):
    def answer(see):
        return see.dies


class BelowWait(Die):
    def answer(see):
        return WAIT - 1


class Raising(Die):
    def answer(see):
        if see.group > 3:
            raise ValueError("too many")
        return 0


class BeyondTheArray(Die):
    def answer(see):
        return 0 * see.free[see.free.size]


class WritingToTheDies(Die):
    def answer(see):
        see.fits[0] += 1
        return 0


class OtherwiseInPython(Die):
    """Compiled code wraps around where Python counts on."""

    def answer(see):
        return 0 if (1 << 62) * (2 + 0 * see.group) > 0 else ALL


class ClaimsToDraw(AnyDie):
    draws = True


class ClaimsToBeNeutral(FirstDie):
    def neutral(self) -> bool:
        return True


class Unreadable(Die):
    depth: int = lever(1, least=1, most=4, description="how deep")

    def answer(see):
        return 0

    def plain(self) -> dict[str, Any]:
        return {}


class Lax(Unreadable):
    def but(self, **values: Any) -> Lax:
        return self


def broken(policy: Die, test: str) -> None:
    class Contract(DieContract):
        sizes = (4,)

    Contract.policy = policy
    getattr(Contract(), test)()


@pytest.mark.parametrize(
    ("policy", "test"),
    [
        (NoSuchDie(), "test_answers_are_allowed"),
        (BelowWait(), "test_answers_are_allowed"),
        (Raising(), "test_answers_are_allowed"),
        (BeyondTheArray(), "test_stays_within_its_arrays"),
        (ClaimsToDraw(), "test_memory_belongs_to_the_run"),
        (ClaimsToBeNeutral(), "test_lets_all_dies_compete_where_it_says_so"),
        (Unreadable(depth=3), "test_yaml_and_back"),
        (Lax(), "test_refuses_wrong_levers"),
        pytest.param(OtherwiseInPython(), "test_compiled_and_plain_answers_agree", marks=compiled_only),
        pytest.param(OtherwiseInPython(), "test_answers_the_same_in_a_fresh_interpreted_process", marks=compiled_only),
    ],
    ids=lambda value: value.name if isinstance(value, Die) else value,
)
def test_the_contract_has_been_seen_failing(policy, test):
    with pytest.raises((AssertionError, PolicyError)):
        broken(policy, test)
    broken(LastDie(), test)


def test_catches_writing_to_what_fits():
    with pytest.raises(AssertionError, match="fits is another afterwards"):
        broken(WritingToTheDies(), "test_leaves_its_inputs_alone")


@pytest.mark.parametrize("policy", [LastDie(), AnyDie()], ids=lambda it: it.name)
def test_check_accepts(policy):
    check(policy)


def test_check_names_the_group():
    with pytest.raises(
        PolicyError, match=r"^no_such_die answered 1, which is no die, for kernel \d+, channel \d+"
    ) as no:
        check(NoSuchDie())
    assert "\n" not in str(no.value)


def test_an_own_rule_is_asked_like_any():
    assert [LastDie(least=least).die_of(fits=(3, 2, 1)) for least in (1, 2, 3, 4)] == [2, 1, 0, WAIT]


class Sees(Die):
    """Answers 1 where all that it sees is what the question says of one scene."""

    def answer(see):
        numbers = see.kernel == 3 and see.channel == 1 and see.group == 4 and see.groups == 9
        counts = see.of_channel == 5 and see.of_all == 6 and see.dies == 2 and see.resources == 5
        return int(numbers and counts and see.fits.tolist() == [0, 2] and see.free.tolist() == [*range(10)])


def test_it_is_shown_the_head_and_the_dies():
    head = {"kernel": 3, "channel": 1, "group": 4, "groups": 9, "of_channel": 5, "of_all": 6}
    assert Sees().die_of((0, 2), free=[range(5), range(5, 10)], **head) == 1
    assert Sees().die_of((0, 2), free=[range(5), range(6, 11)], **head) == 0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"fits": []}, "fits must have a number for each of 1 to 16 dies. Got 0."),
        ({"fits": [1, 1], "free": [[1] * 5]}, "free must have a row for each of the 2 dies. Got 1."),
        ({"fits": [1], "free": [[1, 2]]}, "free[0] must be a list of 5 numbers. Got [1, 2]."),
        (
            {"fits": [1], "grup": 1},
            "unknown name 'grup'; there are channel, free, group, groups, kernel, of_all, of_channel. ",
        ),
        ({"fits": [1], "group": -1}, "group must be a whole number from 0 to 1099511627776. Got -1. Nearest: 0."),
        ({"fits": [1], "group": 4, "groups": 4}, "groups must be a whole number from 5 to 2199023255552. Got 4. "),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(given, says):
    with pytest.raises(InputError) as wrong:
        FirstDie().die_of(**given)
    assert str(wrong.value).startswith(says)
