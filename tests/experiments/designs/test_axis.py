"""Where a rank lies: whole numbers, powers of two, steps and log scales are kept, and each stop comes equally often."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.experiments.designs.ranges import Axis, read_range
from workbench.levers import Lever

WIDTH = Lever("width", "integer", 8, least=1, most=64, scale="power_of_two")
DEPTH = Lever("depth", "integer", 4, least=1, most=64)
DELAY = Lever("delay", "integer", 8, least=1, most=65536, scale="log")
SHARE = Lever("share", "number", 0.5, least=0, most=1, step=0.3)
RATE = Lever("rate", "number", 1.0, least=0.001, most=1000, scale="log")
FREE = Lever("free", "integer", 4, least=1)
TIE = Lever("tie", "choice", "low", choices=("low", "high", "alternate"))
FLAG = Lever("flag", "switch", True)
NAME = Lever("name", "text", "a")
EVENLY = [(k + 0.5) / 840 for k in range(840)]


@pytest.mark.parametrize(
    ("lever", "wish", "values"),
    [
        (DEPTH, {"from": 3, "to": 9}, range(3, 10)),
        (DEPTH, {"from": 3, "to": 10, "step": 4}, (3, 7)),
        (WIDTH, True, (1, 2, 4, 8, 16, 32, 64)),
        (WIDTH, {"from": 2, "to": 16}, (2, 4, 8, 16)),
        (SHARE, True, (0.0, 0.3, 0.6, 0.9)),
        (TIE, True, ("low", "high", "alternate")),
        (FLAG, True, (False, True)),
        (DEPTH, {"any_of": [2, 8, 64]}, (2, 8, 64)),
        (None, {"any_of": ["a", "b"]}, ("a", "b")),
    ],
)
def test_every_value_of_a_range_comes_equally_often_and_nothing_else_does(lever, wish, values):
    counter = Counter(read_range(lever, wish, "p").at_rank(rank) for rank in EVENLY)
    assert counter == {value: 840 // len(values) for value in values}
    assert {type(value) for value in counter} == {type(value) for value in values}


def test_whole_numbers_on_a_log_scale_come_as_often_as_their_share_of_it():
    axis = read_range(DELAY, {"to": 9}, "p")
    counter = Counter(axis.at_rank((k + 0.5) / 100_000) for k in range(100_000))
    assert sorted(counter) == list(range(1, 10))
    for value, times in counter.items():
        assert times / 100_000 == pytest.approx(math.log10((value + 1) / value), abs=2e-5)


@given(st.floats(0, 1))
def test_a_number_lies_in_its_range_and_where_its_rank_says(rank):
    linear, log = Axis("x", "number", -3.0, 5.0), read_range(RATE, True, "x")
    assert linear.at_rank(rank) == pytest.approx(-3 + 8 * rank, abs=1e-5)
    assert math.log10(log.at_rank(rank)) == pytest.approx(-3 + 6 * rank, abs=1e-5)
    assert -3 <= linear.at_rank(rank) <= 5


@pytest.mark.slow
@pytest.mark.parametrize("wish", [True, {"from": 2, "to": 50}, {"from": 3, "step": 5}, {"scale": "log"}])
@given(ranks=st.lists(st.floats(0, 1), min_size=2, max_size=2).map(sorted))
def test_a_higher_rank_never_gives_a_smaller_value_and_the_last_gives_the_last(wish, ranks):
    axis = read_range(DEPTH, wish, "p")
    assert axis.at_rank(ranks[0]) <= axis.at_rank(ranks[1])
    assert axis.at_share(ranks[0]) <= axis.at_share(ranks[1])
    assert (axis.at_share(0), axis.at_share(1), axis.at_rank(1)) == (axis.least, axis.most, axis.most)


@pytest.mark.parametrize(
    ("lever", "wish", "values"),
    [
        (DEPTH, {"from": 8, "to": 64, "count": 8}, [8, 16, 24, 32, 40, 48, 56, 64]),
        (DELAY, {"from": 1, "to": 1000, "count": 4}, [1, 10, 100, 1000]),
        (WIDTH, {"from": 4, "to": 64, "count": 3}, [4, 16, 64]),
        (RATE, {"from": 0.1, "to": 10, "count": 3}, [0.1, 1.0, 10.0]),
        (DEPTH, {"from": 1, "to": 3, "count": 9}, [1, 2, 3]),
    ],
)
def test_a_range_with_a_count_is_a_list_by_itself(lever, wish, values):
    axis = read_range(lever, wish, "p")
    assert axis.spaced(axis.points) == values


@pytest.mark.parametrize(
    ("lever", "wish", "sentence"),
    [
        (DEPTH, {"to": 65}, "s.yaml: p.vary.to must be a whole number from 1 to 64. Got 65. Nearest: 64."),
        (DEPTH, {"from": 9, "to": 3}, "s.yaml: p.vary has an empty range: from is 9 and to is 3."),
        (DEPTH, {"form": 3}, "s.yaml: p.vary: unknown key 'form'; there are any_of, count, from, scale, step, to. Did"),
        (DEPTH, {"step": 0}, "s.yaml: p.vary.step must be above 0. Got 0."),
        (DEPTH, {"step": 1.5}, "s.yaml: p.vary.step must be a whole number. Got 1.5."),
        (DEPTH, {"scale": "cubic"}, "s.yaml: p.vary.scale must be linear or log. Got 'cubic'."),
        (DEPTH, {"count": 1}, "s.yaml: p.vary.count must be a whole number from 2 to 1000. Got 1. Nearest: 2."),
        (DELAY, {"step": 2}, "s.yaml: p.vary.step must be left out on a log scale, or say scale: linear."),
        (SHARE, {"scale": "log"}, "s.yaml: p.vary.from must be above 0 on a log scale. Got 0."),
        (WIDTH, {"scale": "log"}, "s.yaml: p.vary.scale must be left out: this lever takes powers of two."),
        (WIDTH, {"from": 3}, "s.yaml: p.vary.from must be a power of two from 1 to 64. Got 3."),
        (FREE, True, "s.yaml: p.vary needs to: the range of free is open at that end."),
        (NAME, True, "s.yaml: p has no range; give a list of values, vary: [...]."),
        (TIE, {"from": 1}, "s.yaml: p has no range; give a list of values, vary: [...]."),
        (TIE, {"any_of": ["lowest"]}, "s.yaml: p.vary.any_of[0] must be one of low, high, alternate. Got 'lowest'."),
        (TIE, {"any_of": []}, "s.yaml: p.vary must be {any_of: [...]} with at least one value. Got {'any_of': []}."),
        (DEPTH, {"any_of": [1], "to": 3}, "s.yaml: p.vary must be {any_of: [...]} with at least one value."),
        (None, True, "s.yaml: p is no lever with a range of its own; give a list of values, vary: [...]."),
    ],
)
def test_a_range_that_is_not_allowed_is_one_sentence(lever, wish, sentence):
    with pytest.raises(InputError) as refused:
        read_range(lever, wish, "p", "s.yaml")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
