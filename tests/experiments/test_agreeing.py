"""Choices that go together, against the whole product with what disagrees struck out."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from tests.work_counts import growth
from workbench.experiments.choices import zip_choices


class Choice(NamedTuple):
    name: int
    steps: dict[str, int]


STEPS = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 2), max_size=2)
PARTS = st.lists(st.lists(STEPS, max_size=4), max_size=4)


def slowly(parts):
    for chosen in itertools.product(*parts):
        stands = {}
        if all(stands.setdefault(name, step) == step for one in chosen for name, step in one.steps.items()):
            yield chosen


@given(PARTS)
def test_the_same_in_the_same_order_as_the_whole_product(steps):
    parts = [[Choice(k, one) for k, one in enumerate(part)] for part in steps]
    assert list(zip_choices(parts)) == list(slowly(parts))


def test_zips_of_thousands_take_no_product():
    def chosen(steps, parts=2):
        zipped = [[Choice(k, {"z": k}) for k in range(steps)] for _ in range(parts)]
        assert sum(1 for _ in zip_choices(zipped)) == steps

    assert growth(chosen, 50) < 12  # ten times the choices, ten times the looks
    chosen(5_000, parts=4)
