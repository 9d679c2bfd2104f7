"""Answers of 0.4, with a parameter a field, are asked what answers of a view are: every question, in its order."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numba import types

from workbench.compiled import Question, asked
from workbench.compiled.question import _of_view, fields_of, view_type
from workbench.policies.catalogue import load_all

load_all()
PARAMETERS = {
    "cache_fit": "size pool first roots filled nodes params memory",
    "choice": "cycle count modules demand free longest totals recent heat scores params memory",
    "choice notice": "module modules params memory",
    "eviction": "nth previous at first ways newest oldest earliest entries holders spread base words params memory",
    "eviction notice": "entry at first ways fresh params memory",
    "fill": "core cores entries held shared pairs push params memory",
    "fill notice": "core peer used cores params memory",
    "how long an order holds": "cycle levels params",
    "idle_release": "excess oldest origins params",
    "peer": "core cores others hops load params memory",
    "placement": "free segments length params memory",
    "placement notice": "free segments start length params memory",
    "priority": "cycle priority levels waited params",
    "probe": "free blocks params",
    "remote_fill": "core peer cores entries held degree pairs params memory",
    "selection": "cycle count channel priority rank fits waited waves params memory",
    "serve": "lanes asked part offset size leader params memory",
    "stuck": "waves independent priority levels params",
    "target": "borrower count cards size free gbps hops lent held totals hosts scores params memory",
    "target notice": "card cards params memory",
    "units": "waves units pointer taken counts params",
}
"""Every question of 0.4.0 with the parameters of its answers."""

QUESTIONS: dict[str, Question] = {
    one.name: one for see, one in _of_view.items() if see.__module__.startswith("workbench.")
}


def seen(question: Question) -> Any:
    """Return a view in which every field holds another number."""
    kinds = dict(zip(fields_of(question.see), view_type(question.see).types, strict=True))
    return question.see(*(value(kind, place + 2) for place, kind in enumerate(kinds.values())))


def value(kind: Any, number: int) -> Any:
    if isinstance(kind, types.Array):
        return np.full(3, number, str(kind.dtype))
    return float(number) if isinstance(kind, types.Float) else number


def answers(question: Question, names: list[str]) -> tuple[Any, Any]:
    """Return an answer of 0.4 and one of today that read every field: the fields as digits of one number.

    Where an answer returns nothing, it writes to the last field, which is memory wherever there is such a question.
    """
    kinds = view_type(question.see).types
    digits = [
        f"{{0}}{name}{'[0]' if isinstance(kind, types.Array) else ''}" for name, kind in zip(names, kinds, strict=True)
    ]
    total = " + ".join(f"{3**place} * int({digit})" for place, digit in enumerate(digits))
    ends = "return {0}" if question.signature.return_type == types.int64 else "{1}memory[1] = {0}"
    lines = [ends.format(total.format(prefix).replace("see.params", "see.levers"), prefix) for prefix in ("", "see.")]
    space: dict[str, Any] = {}
    exec(f"def old({', '.join(names)}):\n    {lines[0]}\ndef new(see):\n    {lines[1]}", space)
    return space["old"], space["new"]


def test_no_question_of_0_4_was_forgotten_or_reordered():
    parameters = {name: " ".join(question.parameters) for name, question in QUESTIONS.items()}
    assert {name: parameters.get(name) for name in PARAMETERS} == PARAMETERS


@pytest.mark.parametrize("name", PARAMETERS)
def test_it_is_told_the_same(name):
    question = QUESTIONS[name]
    old, new = answers(question, PARAMETERS[name].split())
    first, second = seen(question), seen(question)
    assert question.plain(old)(first) == question.plain(new)(second)
    assert repr(first) == repr(second) and (question.plain(new)(seen(question)) or max(first[-1])) > 9


@pytest.mark.slow
@pytest.mark.parametrize("name", PARAMETERS)
def test_compiled_it_is_told_the_same_and_warned_of_once(name):
    question = QUESTIONS[name]
    old, new = answers(question, PARAMETERS[name].split())
    with pytest.warns(
        DeprecationWarning, match=r"old takes \(.+\): from the next release on it takes one view"
    ) as told:
        ready = question.ready(old)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_view = question.ready(new)
    first, second = seen(question), seen(question)
    assert asked(ready, first) == asked(of_view, second)
    assert repr(first) == repr(second)
