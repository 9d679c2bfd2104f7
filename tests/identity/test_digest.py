"""What executes is the digest, what does not is not; and what has no digest is refused by name."""

import random
import threading

import numpy as np
import pytest

from tests.identity.table import ALIKE, CASES, Case, edited, policy
from workbench.errors import InputError
from workbench.identity import digest_of, one_moment, snapshot


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_policies_that_differ_in_one_thing_that_executes_have_two_digests(case):
    with edited(case) as here:
        before = snapshot(type(here.policy))
        assert digest_of(type(here.policy)) == before.digest
        assert before.changed() == ""
        here.edit()
        assert digest_of(type(here.policy)) != before.digest


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.edit and "class Mine" not in c.edit], ids=lambda case: case.name
)
def test_an_edit_in_place_is_seen_by_a_look_at_what_was_digested(case):
    with edited(case) as here:
        before = snapshot(type(here.policy))
        here.edit()
        assert before.changed()


@pytest.mark.parametrize("case", ALIKE, ids=lambda case: case.name)
def test_policies_that_differ_in_nothing_that_executes_share_a_digest(case):
    with edited(case) as here:
        before = digest_of(type(here.policy))
        here.edit()
        assert digest_of(type(here.policy)) == before


def test_the_name_of_the_file_and_of_the_module_say_nothing():
    with edited(Case("one", policy("AIM", "AIM = 3"))) as here, edited(Case("one", policy("AIM", "AIM = 3"))) as there:
        there.space["__name__"] = "elsewhere"
        there.edit()
        assert type(there.policy).__module__ == "elsewhere"
        assert digest_of(type(here.policy)) == digest_of(type(there.policy))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("open('/dev/null')", "an open file"),
        ("np.random.default_rng(1)", r"a random generator \(Generator\)"),
        ("np.random.RandomState(1)", r"a random generator \(RandomState\)"),
        ("__import__('random').Random(1)", r"a random generator \(Random\)"),
        ("iter([1, 2])", r"an iterator \(list_iterator\)"),
        ("(k for k in range(3))", r"an iterator \(generator\)"),
        ("__import__('threading').Lock()", "a lock of _thread"),
    ],
)
def test_what_has_no_digest_is_refused_by_name(value, kind):
    sentence = rf"^Mine\.answer reads AIM, {kind}.*: no run can be named by it; use num"
    with edited(Case("refused", policy("AIM", f"AIM = {value}"))) as here, pytest.raises(InputError, match=sentence):
        digest_of(type(here.policy))


def test_a_hidden_generator_is_refused():
    def answer(free):
        return random.random()

    with pytest.raises(InputError, match=r"reads random\.random, a random generator"):
        digest_of(answer)


def test_functions_that_call_each_other_and_values_that_hold_themselves_have_an_end():
    loop: list = [1]
    loop.append(loop)

    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1) and loop

    before = digest_of(even)
    assert digest_of(even) == before != digest_of(odd)
    loop[0] = 2
    assert digest_of(even) != before


def test_numbers_that_are_equal_but_not_alike_have_two_digests():
    values = [
        0,
        0.0,
        -0.0,
        False,
        "0",
        b"0",
        None,
        (0,),
        [0],
        {0},
        frozenset({0}),
        {0: 0},
        0j,
        np.int32(0),
        np.int64(0),
    ]
    values += [
        np.zeros(1),
        np.zeros(1, np.float32),
        np.zeros((1, 1)),
        range(0),
        ...,
        [[0]],
        [0, 0],
        ["0"],
        np.dtype("i4"),
    ]
    assert len({digest_of(value) for value in values}) == len(values)


def test_sets_have_no_order_and_dicts_have():
    assert digest_of({"a", "b", "c"}) == digest_of({"c", "b", "a"})
    assert digest_of({"a": 1, "b": 2}) != digest_of({"b": 2, "a": 1})


def test_at_one_moment_a_thing_is_digested_once():
    class Mine:
        aim = 0

    with one_moment():
        before = digest_of(Mine)
        Mine.aim = 1
        assert digest_of(Mine) == before
    assert digest_of(Mine) != before


def test_moments_of_other_threads_are_their_own():
    class Mine:
        aim = 0

    seen = []
    with one_moment():
        before = digest_of(Mine)
        Mine.aim = 1
        thread = threading.Thread(target=lambda: seen.append(digest_of(Mine)))
        thread.start()
        thread.join()
    assert seen != [before]
