"""Macro names are what TeX takes for names, and no two are the same."""

import re

from hypothesis import given
from hypothesis import strategies as st

from workbench.export.macros import MacroNames, letters
from workbench.export.tex import comment, escape

texts = st.text(max_size=12) | st.sampled_from(["best_fit", "bestFit", "tie=low", "16", "1.5", "-1", "größe", "配"])


@given(st.lists(st.tuples(texts, texts), max_size=40))
def test_names_are_letters_and_unique(parts):
    names = MacroNames()
    made = [names.new(*one) for one in parts]
    assert len(set(made)) == len(made)
    assert all(re.fullmatch("wb[A-Za-z]*", name) for name in made)


def test_what_reads_differently_is_spelled_differently():
    assert letters("segments = 16") == "SegmentsOneSix"
    assert letters("k=1.5") == "KOnePointFive"
    assert letters("k=-15") == "KMinusOneFive"
    assert letters("größe") == "GroEuroE" or letters("größe").isascii()


@given(st.text(max_size=30))
def test_an_escaped_text_has_no_bare_special_letter(text):
    bare = re.sub(r"\\[A-Za-z]+(\{\}|\{\\ge\}|\{\\le\})|\\[{}$&%#_]|\{-\}", "", escape(text))
    assert not set(bare) & set("\\{}$&%#_~^")
    assert "\n" not in escape(text)


@given(st.text(max_size=30))
def test_a_comment_is_one_line(text):
    assert len(comment(text).splitlines()) == 1
