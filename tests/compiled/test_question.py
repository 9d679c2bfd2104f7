"""Questions and answers: calls through an address, exceptions that are seen, arrays that may only be read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.slow import compiled_only
from workbench.compiled import (
    INTERPRETED,
    MEMORY,
    NO_ANSWER,
    PARAMS,
    RAISED,
    Question,
    failed_call,
    kernel,
    number,
    readable,
    view,
)
from workbench.compiled import asked as ask_ready
from workbench.compiled.kernel import compiled_answer
from workbench.errors import PolicyError


@view
class NumberView(NamedTuple):
    """Some words, a share, and what is remembered."""

    seen: np.ndarray = readable("uint64", "words", "what is seen")
    share: float = number("a share", "float64")
    memory: np.ndarray = MEMORY


@view
class NoticeView(NamedTuple):
    """What is remembered alone."""

    memory: np.ndarray = MEMORY


@view
class LeversView(NamedTuple):
    """A number and the levers."""

    count: int = number("a number")  # type: ignore[assignment]
    levers: Any = PARAMS


NUMBER = Question("number", NumberView)
NOTICE = Question("notice", NoticeView, returns="nothing")
LEVERS = Question("levers", LeversView)
ask_number = NUMBER.ask


@kernel
def asked_in_a_loop(answer, see, times):
    total = 0
    for _ in range(times):
        total += ask_number(answer, see)
    return total


def asked(answer, seen=(5, 7), share=0.5, memory=(1, 2), checked=False):
    state = np.array(memory)
    see = NumberView(np.array(seen, np.uint64), share, state)
    return ask_ready(NUMBER.ready(answer, checked), see), state.tolist()


def adds(see):
    return int(see.seen[0]) + int(see.share * 10) + see.memory[1]


def writes_memory(see):
    see.memory[0] = 9
    return see.memory[0]


def divides(see):
    return see.memory[0] // (see.memory[1] - 2)


def raises(see):
    if see.share > 0.2:
        raise ValueError("no")
    return 1


def reads_beyond(see):
    return int(see.seen[see.seen.size + 5])


def writes_what_it_sees(see):
    see.seen[0] = see.seen[1]
    return 1


def other_parameters(seen, memory):
    return 1


def one_by_one(seen, share, memory):
    return 1


def by_name(see):
    return see.count + see.levers.shift + int(see.levers.aim * 10) + 100 * see.levers.wrap + see.levers.shape


def by_place(see):
    return see.count + int(see.levers[0])


def shifted(see):
    return see.levers.shift


def unknown_name(see):
    return no_such_name + 1  # noqa: F821


def a_half(see):
    return see.share


def a_half_now_and_then(see):
    if see.memory[0] > 5:
        return see.memory[0] / 2
    return see.memory[0]


def no_number_at_all(see):
    return np.nan


def a_whole_float(see):
    return float(see.memory[0])


def a_truth(see):
    return see.share > 0.2


def tells(see):
    see.memory[1] += 1


def raises_when_told(see):
    see.memory[5 // (see.memory[0] - 1)] = 1


def makes_an_array(see):
    doubled = np.zeros(3, np.int64)
    doubled[1] = 2 * see.memory[1]
    return doubled.sum()


def test_answers_through_an_address():
    assert asked(adds) == (5 + 5 + 2, [1, 2])


def test_memory_may_be_written():
    assert asked(writes_memory) == (9, [9, 2])


@pytest.mark.slow
def test_an_answer_may_create_arrays():
    assert asked(makes_an_array) == (4, [1, 2])


@pytest.mark.parametrize("answer", [raises, divides])
def test_an_exception_is_seen(answer):
    assert asked(answer)[0] == RAISED
    assert asked(adds)[0] == 12  # and the next answer is not disturbed


def test_no_exception_no_mark():
    assert asked(raises, share=0.1)[0] == 1
    assert asked(divides, memory=(9, 5))[0] == 3


def test_an_index_is_tested_when_asked_for():
    assert asked(reads_beyond, checked=True)[0] == RAISED


def test_a_notice_returns_nothing():
    memory = np.array([1, 2])
    assert ask_ready(NOTICE.ready(tells), NoticeView(memory)) == 0
    assert memory.tolist() == [1, 3]
    assert ask_ready(NOTICE.ready(raises_when_told), NoticeView(memory)) == RAISED


def refusal(answer) -> str:
    with pytest.raises(PolicyError) as refused:
        NUMBER.ready(answer)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("answer", [other_parameters, one_by_one])
def test_refuses_other_parameters(answer):
    message = "an answer to 'number' takes one view, def "
    assert message + f"{answer.__name__}(see), whose fields are seen, share, memory. Got (" in refusal(answer)


def test_levers_are_read_by_name_and_by_place():
    kinds = (("shift", "integer"), ("aim", "number"), ("wrap", "switch"), ("shape", "choice"))
    see = LeversView(2, np.array([8.0, 0.5, 1.0, 3.0]))
    assert ask_ready(LEVERS.ready(by_name, kinds=kinds), see) == 2 + 8 + 5 + 100 + 3
    assert ask_ready(LEVERS.ready(by_place), see) == 2 + 8
    assert LEVERS.plain(by_name, kinds)(see) == 2 + 8 + 5 + 100 + 3


def test_the_order_of_declaration_is_nobodys_concern():
    """Swapping two declarations used to change an answer in silence."""
    first, second = (("shift", "integer"), ("aim", "number")), (("aim", "number"), ("shift", "integer"))
    one = ask_ready(LEVERS.ready(shifted, kinds=first), LeversView(0, np.array([8.0, 0.5])))
    other = ask_ready(LEVERS.ready(shifted, kinds=second), LeversView(0, np.array([0.5, 8.0])))
    assert one == other == 8


def test_what_an_answer_saw_as_it_raised_is_kept():
    assert asked(raises, seen=(5, 7), share=0.5, memory=(1, 2))[0] == RAISED
    call = failed_call()
    assert call.question == "number"
    assert (call.see.seen.tolist(), call.see.share, call.see.memory.tolist()) == ([5, 7], 0.5, [1, 2])


@compiled_only
def test_refuses_writing_to_what_it_may_only_read():
    assert refusal(writes_what_it_sees) == (
        "writes_what_it_sees does not compile: it writes to an array that it may only read; only memory may be written."
    )


@compiled_only
@pytest.mark.parametrize("answer", [a_half, a_half_now_and_then, no_number_at_all, a_whole_float])
def test_refuses_a_fraction_instead_of_cutting_it_off(answer):
    name, message = answer.__name__, "it must return a whole number on every path, and returns a float64 in line "
    sentence = refusal(answer)
    assert sentence.startswith(f"{name} does not compile: {message}")
    line = int(sentence.removeprefix(f"{name} does not compile: {message}").split(";")[0])
    first = answer.__code__.co_firstlineno
    assert line == first + (2 if answer is a_half_now_and_then else 1)
    assert sentence.endswith("; int(...) cuts the fraction off.")


@pytest.mark.parametrize("answer", [a_half, no_number_at_all, a_whole_float])
def test_an_interpreted_fraction_is_not_cut_off_either(answer):
    with pytest.raises(PolicyError, match="must return a whole number on every path"):
        NUMBER._plain_ask(answer, NumberView(np.array([5], np.uint64), 0.5, np.array([1])))


def test_a_truth_is_a_whole_number():
    assert asked(a_truth)[0] == 1


@compiled_only
def test_refuses_what_does_not_compile_in_one_sentence():
    assert refusal(unknown_name).startswith("unknown_name does not compile: ")


def test_interpreted_writing_raises_too():
    if INTERPRETED:
        assert asked(writes_what_it_sees)[0] == RAISED


@compiled_only
def test_compiles_an_answer_once():
    assert NUMBER.ready(adds) == NUMBER.ready(adds) != NUMBER.ready(adds, checked=True)
    assert NUMBER.ready(adds) != NO_ANSWER


@compiled_only
def test_many_calls_leave_the_arrays_alone():
    """An array whose references were counted wrongly would be gone by the end."""
    state = np.array([1, 2])
    before = np.array([3, 4], np.uint64)
    see = NumberView(before, 0.5, state)
    assert asked_in_a_loop(NUMBER.ready(adds), see, 100) == 100 * (3 + 5 + 2)
    assert asked_in_a_loop(NUMBER.ready(makes_an_array), see, 100) == 100 * 4
    assert (before.tolist(), state.tolist()) == ([3, 4], [1, 2])


@compiled_only
def test_only_answers_of_users_count_references():
    for built_in in (True, False):
        dispatcher = compiled_answer(adds, NUMBER.signature, built_in=built_in, checked=True, digest="any")
        assert dispatcher.targetoptions["_nrt"] != built_in
