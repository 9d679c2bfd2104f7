"""Whatever a person asks a policy in plain Python is answered, or refused in one sentence."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import ANYTHING
from tests.policies.teaching import METHODS, Method, methods
from tests.slow import examples, thinned
from workbench.errors import WorkbenchError
from workbench.policies.placement import FirstFit
from workbench.policies.policy import questions

NEVER_TRIED_OUT = {"heap", "lock", "arenas", "queue", "retry", "residency"}
"""Questions whose answers have no method of their own to ask: their figures are read by an engine."""
JUNK: list[Any] = [
    *[None, True, -1, 0, 3, 1 << 40, 1 << 70, -(1 << 70), 1.5, float("nan"), "x", "", "01", "0" * 70, b"01"],
    *[[], [1], [-1, 2], ["a"], [[1], [2, 3]], [None], [1 << 70], [float("nan")], ["01", "0"], {}, {"a": 1}, object()],
    *[np.array([1, 2]), np.array([[1, 2], [3, 4]]), np.int32(3), np.float64(2.0), complex(1, 2), {1, 2}],
]


@cache
def every() -> list[Method]:
    return methods()


def taken(method: Method, name: str, value: Any) -> bool:
    """Ask with one argument replaced; True if it is answered. Anything but a refusal in one line passes through."""
    sentence = ""
    try:
        method.ask(**{**method.given, name: value})
    except WorkbenchError as wrong:
        sentence = str(wrong) or "\n"
    assert "\n" not in sentence, (method.name, name, value)
    return not sentence


def test_every_question_is_there() -> None:
    every()
    assert set(METHODS) | NEVER_TRIED_OUT == set(questions())
    assert len(every()) > 150


def test_what_they_are_given_they_take() -> None:
    refused = {method.name for method in every() if not taken(method, *next(iter(method.given.items())))}
    assert refused == {"compaction.allocator"}, "whose addresses cannot be handed out"


@pytest.mark.parametrize("part", thinned(range(8), 7))
def test_junk_is_taken_or_refused_in_one_line(part: int) -> None:
    answered = refused = 0
    for method in every()[part::8]:
        for name in method.given:
            for value in JUNK:
                done = taken(method, name, value)
                answered, refused = answered + done, refused + (not done)
    assert answered > 50
    assert refused > 500


@examples(15, 1000)
@given(st.data())
def test_anything_else_is_too(data: st.DataObject) -> None:
    method = data.draw(st.sampled_from(every()))
    taken(method, data.draw(st.sampled_from(sorted(method.given))), data.draw(ANYTHING))


class Broken(FirstFit):
    """Raise whatever is asked."""

    def answer(see: Any) -> int:
        return see.memory[100]


def test_what_a_users_own_answer_raises_is_not_blamed_on_the_question() -> None:
    with pytest.raises(IndexError):
        Broken().place("0110", 1)
