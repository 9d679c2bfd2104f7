"""Questions and answers: calls through an address, exceptions that are seen, arrays that may only be read."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.compiled import INTERPRETED, NO_ANSWER, RAISED, Question, creates_arrays, kernel
from workbench.compiled.kernel import compiled_answer
from workbench.errors import PolicyError

NUMBER = Question("number", seen="readonly uint64[]", share="float64", memory="int64[]")
NOTICE = Question("notice", returns="nothing", memory="int64[]")
ask_number, ask_notice = NUMBER.ask, NOTICE.ask

compiled_only = pytest.mark.skipif(INTERPRETED, reason="is about compiled code")


@kernel
def number(answer, seen, share, memory):
    return ask_number(answer, seen, share, memory)


@kernel
def notice(answer, memory):
    return ask_notice(answer, memory)


def asked(answer, seen=(5, 7), share=0.5, memory=(1, 2), checked=False):
    state = np.array(memory)
    return number(NUMBER.ready(answer, checked), np.array(seen, np.uint64), share, state), state.tolist()


def adds(seen, share, memory):
    return int(seen[0]) + int(share * 10) + memory[1]


def writes_memory(seen, share, memory):
    memory[0] = 9
    return memory[0]


def divides(seen, share, memory):
    return memory[0] // (memory[1] - 2)


def raises(seen, share, memory):
    if share > 0.2:
        raise ValueError("no")
    return 1


def reads_beyond(seen, share, memory):
    return int(seen[seen.size + 5])


def writes_what_it_sees(seen, share, memory):
    seen[0] = seen[1]
    return 1


def other_parameters(seen, memory):
    return 1


def swapped_parameters(share, seen, memory):
    return 1


def unknown_name(seen, share, memory):
    return no_such_name + 1  # noqa: F821


def a_half(seen, share, memory):
    return share


def a_half_now_and_then(seen, share, memory):
    if memory[0] > 5:
        return memory[0] / 2
    return memory[0]


def no_number_at_all(seen, share, memory):
    return np.nan


def a_whole_float(seen, share, memory):
    return float(memory[0])


def a_truth(seen, share, memory):
    return share > 0.2


def tells(memory):
    memory[1] += 1


def raises_when_told(memory):
    memory[5 // (memory[0] - 1)] = 1


@creates_arrays
def makes_an_array(seen, share, memory):
    doubled = np.zeros(3, np.int64)
    doubled[1] = 2 * memory[1]
    return doubled.sum()


def test_answers_through_an_address():
    assert asked(adds) == (5 + 5 + 2, [1, 2])


def test_memory_may_be_written():
    assert asked(writes_memory) == (9, [9, 2])


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
    assert notice(NOTICE.ready(tells), memory) == 0
    assert memory.tolist() == [1, 3]
    assert notice(NOTICE.ready(raises_when_told), memory) == RAISED


def refusal(answer) -> str:
    with pytest.raises(PolicyError) as refused:
        NUMBER.ready(answer)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("answer", [other_parameters, swapped_parameters])
def test_refuses_other_parameters(answer):
    assert "an answer to 'number' takes (seen, share, memory). Got (" in refusal(answer)


@compiled_only
def test_refuses_writing_to_what_it_may_only_read():
    assert refusal(writes_what_it_sees) == (
        "writes_what_it_sees does not compile: it writes to an array that it may only read; only memory may be written."
    )


@compiled_only
@pytest.mark.parametrize("answer", [a_half, a_half_now_and_then, no_number_at_all, a_whole_float])
def test_refuses_a_fraction_instead_of_cutting_it_off(answer):
    name, said = answer.__name__, "it must return a whole number on every path, and returns a float64 in line "
    sentence = refusal(answer)
    assert sentence.startswith(f"{name} does not compile: {said}")
    line = int(sentence.removeprefix(f"{name} does not compile: {said}").split(";")[0])
    first = answer.__code__.co_firstlineno
    assert line == first + (2 if answer is a_half_now_and_then else 1)
    assert sentence.endswith("; int(...) cuts the fraction off.")


@pytest.mark.parametrize("answer", [a_half, no_number_at_all, a_whole_float])
def test_an_interpreted_fraction_is_not_cut_off_either(answer):
    with pytest.raises(PolicyError, match="must return a whole number on every path"):
        NUMBER._plain_ask(answer, np.array([5], np.uint64), 0.5, np.array([1]))


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
    for _ in range(100):
        assert number(NUMBER.ready(adds), before, 0.5, state) == 3 + 5 + 2
        assert number(NUMBER.ready(makes_an_array), before, 0.5, state) == 4
    assert (before.tolist(), state.tolist()) == ([3, 4], [1, 2])


@compiled_only
def test_only_marked_built_in_answers_count_references():
    options = {True: [], False: []}
    for built_in in options:
        for answer in (adds, makes_an_array):
            dispatcher = compiled_answer(answer, NUMBER.signature, built_in=built_in, checked=True, digest="any")
            options[built_in].append(dispatcher.targetoptions["_nrt"])
    assert options == {True: [False, True], False: [True, True]}
