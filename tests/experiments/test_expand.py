"""Choices at any depth: grids, zips, choices within choices."""

from __future__ import annotations

import pytest

from workbench.errors import InputError
from workbench.experiments.choices import expand


def values(node):
    return [point.value for point in expand(node)]


def test_nothing_varied_is_one_point():
    assert [tuple(p) for p in expand({"a": [1, {"b": 2}]})] == [({"a": [1, {"b": 2}]}, {}, {})]


def test_a_grid_multiplies_the_last_choice_fastest():
    result = expand({"a": {"vary": [1, 2]}, "b": {"c": {"vary": ["x", "y", "z"]}}})
    assert [(p.coordinates["a"], p.coordinates["b.c"]) for p in result] == [(a, c) for a in (1, 2) for c in "xyz"]


def test_zipped_choices_step_together_and_still_multiply_with_others():
    node = {"a": {"vary": [1, 2], "zip": "z"}, "b": {"vary": [3, 4], "zip": "z"}, "c": {"vary": [5, 6]}}
    assert values(node) == [{"a": a, "b": b, "c": c} for a, b in ((1, 3), (2, 4)) for c in (5, 6)]


def test_a_choice_within_a_choice_belongs_to_its_item():
    node = {"p": {"vary": ["first", {"near": {"tie": {"vary": ["low", "high"]}}}]}}
    result = expand(node)
    assert [p.value["p"] for p in result] == ["first", {"near": {"tie": "low"}}, {"near": {"tie": "high"}}]
    assert [p.coordinates.get("p.near.tie") for p in result] == [None, "low", "high"]


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        ({"a": {"vary": []}}, "a.vary must be a list of at least one choice. Got []."),
        ({"a": {"vary": 3}}, "a.vary must be a list of at least one choice. Got 3."),
        ({"a": {"vary": [1], "zipp": "z"}}, "a: unknown key 'zipp'; there are vary, zip. Did you mean zip?"),
        (
            {"a": {"vary": [1, 2], "zip": "z"}, "b": {"vary": [1], "zip": "z"}},
            "choices zipped as 'z' must be equally many. Got 2 and 1.",
        ),
    ],
)
def test_what_is_no_choice_is_refused(node, sentence):
    with pytest.raises(InputError) as refused:
        expand(node, where="s.yaml")
    assert str(refused.value) == f"s.yaml: {sentence}"
