"""The contract of module choices catches what it is for: each test is fed a choice that breaks it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.slow import compiled_only
from workbench.compiled import INTERPRETED
from workbench.errors import PolicyError
from workbench.levers import lever
from workbench.policies.dispatch.choice import FirstModule, MostResidual, RandomModule
from workbench.policies.dispatch.choice.contract import ChoiceContract
from workbench.policies.dispatch.choice.question import Choice


class Warmest(Choice):
    """An own choice: the warmest module."""

    rows_are = "heat"

    def answer(see):
        for k in range(see.count):
            see.scores[k] = see.heat[see.modules[k]]

    def needs_heat(self) -> bool:
        return True


class TestWarmest(ChoiceContract):
    policy = Warmest()


class Dividing(Choice):
    def answer(see):
        for k in range(see.count):
            see.scores[k] = 1.0 / see.free[see.modules[k] * see.totals.size]


class Endless(Choice):
    def answer(see):
        for k in range(see.count):
            see.scores[k] = np.inf


class OneTooMany(Choice):
    def answer(see):
        see.scores[: see.count + 1] = 1.0


class Silent(Choice):
    """Fills in nothing for the last candidate."""

    def answer(see):
        for k in range(see.count - 1):
            see.scores[k] = 1.0


class Peeking(Choice):
    """Looks at modules that are no candidates."""

    def answer(see):
        for k in range(see.count):
            see.scores[k] = see.free[0]


class Partial(Choice):
    def answer(see):
        for k in range(see.count):
            see.scores[k] = see.modules[k]


class BeyondTheArray(Choice):
    def answer(see):
        for k in range(see.count):
            see.scores[k] = 0 * see.demand[see.totals.size]


class OtherwiseInPython(Choice):
    """Compiled code wraps around where Python counts on."""

    def answer(see):
        for k in range(see.count):
            see.scores[k] = 1.0 if (see.count << 62) > 0 else 2.0


class WritingToTheFree(Choice):
    def answer(see):
        for k in range(see.count):
            see.free[k] -= 1
            see.scores[k] = 0.0


class SharedMemory(FirstModule):
    kept = np.zeros(1, np.int64)

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        return self.kept


class ClaimsToDraw(FirstModule):
    draws = True


class SumWithinTheSum(FirstModule):
    def terms(self) -> Any:
        return ((self, 1.0), (MostResidual(), 1.0))


class Unreadable(FirstModule):
    depth: int = lever(1, least=1, most=4, description="how deep")

    def plain(self) -> dict[str, Any]:
        return {}


class Lax(Unreadable):
    def but(self, **values: Any) -> Lax:
        return self


class Restless(FirstModule):
    depth: int = lever(1, least=1, most=4, description="how deep")

    def bound(self, names: Any) -> Restless:
        return self.but(depth=self.depth % 4 + 1)


def broken(policy: Choice, test: str) -> None:
    class Contract(ChoiceContract):
        sizes = (2, 5)

    Contract.policy = policy
    getattr(Contract(), test)()


@pytest.mark.parametrize(
    ("policy", "test"),
    [
        (Dividing(), "test_answers_are_allowed"),
        (Endless(), "test_answers_are_allowed"),
        (OneTooMany(), "test_answers_are_allowed"),
        (Silent(), "test_scores_follow_from_the_candidates_alone"),
        (Peeking(), "test_scores_follow_from_the_candidates_alone"),
        (Partial(), "test_impartial_or_not"),
        (RandomModule(), "test_impartial_or_not"),
        (BeyondTheArray(), "test_stays_within_its_arrays"),
        (SharedMemory(), "test_memory_belongs_to_the_run"),
        (ClaimsToDraw(), "test_memory_belongs_to_the_run"),
        (SumWithinTheSum(), "test_terms_are_single_scores"),
        (Restless(), "test_goes_with_the_machine"),
        (Unreadable(depth=3), "test_yaml_and_back"),
        (Lax(), "test_refuses_wrong_levers"),
        pytest.param(OtherwiseInPython(), "test_compiled_and_plain_answers_agree", marks=compiled_only),
        pytest.param(OtherwiseInPython(), "test_answers_the_same_in_a_fresh_interpreted_process", marks=compiled_only),
    ],
    ids=lambda value: value.name if isinstance(value, Choice) else value,
)
def test_catches(policy, test):
    with pytest.raises((AssertionError, PolicyError)):
        broken(policy, test)


def test_catches_one_that_says_it_is_partial():
    class Contract(ChoiceContract):
        policy = MostResidual()
        impartial = False

    with pytest.raises(AssertionError, match="impartial is False"):
        Contract().test_impartial_or_not()


def test_catches_writing_to_what_is_shown():
    kind = AssertionError if INTERPRETED else PolicyError
    with pytest.raises(kind):
        broken(WritingToTheFree(), "test_answers_are_allowed" if not INTERPRETED else "test_leaves_its_inputs_alone")


def test_an_own_choice_is_asked_like_any():
    assert Warmest().choose([3.0, 9.0, 4.0]) == 1
