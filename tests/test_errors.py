"""Every message is one line that says where, what was expected, what came, and the nearest cure."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import ANYTHING
from workbench.errors import (
    InputError,
    PolicyError,
    StoreError,
    WorkbenchError,
    at,
    install_command,
    missing_extra,
    nearest_name,
    shown,
    unknown_name,
    wrong_value,
)


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def inside_itself():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    return deep


@given(ANYTHING)
def test_whatever_came_is_shown_on_one_line_of_readable_length(value):
    assert len(shown(value).splitlines()) <= 1
    assert len(shown(value)) <= 80


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        ("a\nb", r"'a\nb'"),
        (np.int64(3), "3"),
        (np.float32(0.5), "0.5"),
        (np.bool_(True), "True"),
        (np.array([[1, 2], [3, 4]]), "array([[1, 2], [3, 4]])"),
        (pd.Series([1]), "0 1 dtype: int64"),
        ("x" * 100, "'" + "x" * 76 + "..."),
    ],
)
def test_odd_values_are_shown(value, text):
    assert " ".join(shown(value).split()) == text


@given(st.text())
def test_a_sentence_is_printable_whatever_it_quotes(text):
    sentence = str(InputError(f"the bus {text!s}, which no card has"))
    assert all(letter.isprintable() or letter == "\n" for letter in sentence)
    assert not text.isprintable() or text in sentence
    sentence.encode()


def test_what_python_cannot_show_is_said_to_be_so():
    assert shown(16**5000) == "a int that cannot be shown"
    assert shown(Unshowable()) == "a Unshowable that cannot be shown"
    assert shown(inside_itself()) == "a list that cannot be shown"


def test_a_cut_text_keeps_the_asked_length():
    assert shown("x" * 100, most=10) == "'xxxxxx..."


@pytest.mark.parametrize(
    ("where", "nearest", "text"),
    [
        ("a.yaml", 2, "a.yaml: machine.segments must be even. Got 3. Nearest: 2."),
        ("a.yaml", None, "a.yaml: machine.segments must be even. Got 3."),
        ("", 0, "machine.segments must be even. Got 3. Nearest: 0."),
    ],
)
def test_a_wrong_value_names_place_expectation_value_and_cure(where, nearest, text):
    assert str(wrong_value(where, "machine.segments", "must be even", 3, nearest)) == text


def test_an_unknown_name_lists_what_there_is_in_order():
    reply = str(unknown_name("a.yaml", "figure", "drane", ["wear", "drain"]))
    assert reply == "a.yaml: unknown figure 'drane'; there are drain, wear. Did you mean drain?"


def test_an_unknown_name_like_none_gets_no_guess():
    assert str(unknown_name("", "figure", "zzz", ["drain"])) == "unknown figure 'zzz'; there are drain."
    assert str(unknown_name("", "figure", "zzz", [])) == "unknown figure 'zzz'; there are none."


@given(ANYTHING, st.lists(st.text(min_size=1), max_size=3))
def test_any_junk_can_be_an_unknown_name(got, known):
    assert isinstance(unknown_name("a.yaml", "figure", got, known), InputError)


@pytest.mark.parametrize("got", ["bestfit", "BEST_FIT", "Best-Fit", "best fit", "bset_fit"])
def test_the_nearest_name_forgives_case_signs_and_slips(got):
    assert nearest_name(got, ["first_fit", "best_fit", "worst_fit"]) == "best_fit"


def test_places_are_put_before_sentences():
    assert at("", "") == ""
    assert at(at("a.yaml", "policy"), "is empty") == "a.yaml: policy: is empty"


@pytest.mark.parametrize("kind", [InputError, PolicyError, StoreError])
def test_every_kind_is_a_users_mistake_with_status_2(kind):
    assert issubclass(kind, WorkbenchError)
    assert kind.exit_status == 2


def test_a_missing_part_says_how_to_install_it_by_packages_that_an_index_has(monkeypatch):
    assert str(missing_extra("A figure", "figures")).endswith("Install it with: pip install -e '.[figures]'.")
    monkeypatch.setattr("pathlib.Path.is_file", lambda _: False)
    assert str(missing_extra("A figure", "figures")).endswith("Install it with: pip install 'matplotlib>=3.9'.")
    assert install_command("circuits") == "pip install 'bitwuzla>=0.9.1' 'pyosys>=0.70'"
