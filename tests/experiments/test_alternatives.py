"""Alternatives by index: those of `expand`, each made by itself, and in groups."""

from __future__ import annotations

import random

import pytest

from workbench.errors import InputError
from workbench.experiments.alternatives import Alternatives
from workbench.experiments.choices import expand

NODES = [
    {"a": [1, {"b": 2}], "c": (3, 4)},
    {"a": {"vary": [1, 2]}, "b": {"c": {"vary": ["x", "y", "z"]}}},
    {"a": {"vary": [1, 2], "zip": "z"}, "c": {"vary": [5, 6]}, "b": {"d": {"vary": [3, 4], "zip": "z"}}},
    {"p": {"vary": ["first", {"near": {"tie": {"vary": ["low", "high"]}}}, {"far": (1, 2)}]}, "q": {"vary": [0, 1]}},
    {"p": {"vary": [{"k": {"vary": [1, 2], "zip": "z"}}, 7]}, "q": {"vary": [3, 4], "zip": "z"}},
    {"p": {"vary": [{"k": {"vary": [1, 2]}}, 7], "zip": "z"}, "q": {"vary": [3, 4], "zip": "z"}},
    {"vary": [{"vary": [1, 2]}, {"vary": [{"vary": [3]}, 4]}]},
    {"a": {"vary": [1], "zip": "z"}, "b": {"vary": [{"vary": [2]}], "zip": "z"}},
]


def plain(points):
    return [(point.value, list(point.coordinates.items()), point.steps) for point in points]


@pytest.mark.parametrize("node", NODES, ids=range(len(NODES)))
def test_alternatives_are_those_that_expand_returns_in_its_order(node):
    points, lazy = expand(node, "", "s.yaml", str.upper), Alternatives(node, "", "s.yaml", str.upper)
    assert len(lazy) == len(points)
    assert plain(lazy) == plain(points)
    assert plain(lazy[k] for k in reversed(range(len(points)))) == plain(reversed(points))


def drawn(chance: random.Random, depth: int = 3):
    """Draw a mapping with choices, some of them zipped or within a choice."""
    kind = chance.choice(["leaf", "map", "list", "vary", "vary"]) if depth else "leaf"
    if kind == "leaf":
        return chance.randrange(5)
    if kind == "vary":
        node = {"vary": [drawn(chance, depth - 1) for _ in range(2)]}
        return {**node, "zip": chance.choice("yz")} if chance.random() < 0.3 else node
    parts = [drawn(chance, depth - 1) for _ in range(chance.randrange(1, 4))]
    return parts if kind == "list" else {f"k{k}": part for k, part in enumerate(parts)}


def test_alternatives_of_200_mappings_that_were_drawn_are_those_of_expand():
    chance, lazy = random.Random(54), 0
    for _ in range(200):
        node = {"a": drawn(chance), "b": drawn(chance), "c": drawn(chance)}
        wanted, alternatives = outcome(expand, node), outcome(Alternatives, node)
        if isinstance(wanted, str):
            assert alternatives == wanted
            continue
        lazy += alternatives._listed is None
        assert plain(alternatives) == plain(wanted)
    assert lazy > 50


def outcome(make, node):
    """Return what a function makes of a node, or the sentence by which it refuses it."""
    try:
        return make(node)
    except InputError as problem:
        return str(problem)


@pytest.mark.parametrize("node", NODES, ids=range(len(NODES)))
def test_groups_hold_every_alternative_once(node):
    alternatives = Alternatives(node)
    groups = alternatives.groups(lambda path: path.startswith("q"))
    assert sorted(k for group in range(len(groups)) for k in groups[group]) == list(range(len(alternatives)))


def test_a_group_differs_in_the_inner_choices_alone():
    alternatives = Alternatives({"p": {"vary": ["a", {"b": {"tie": {"vary": [1, 2]}}}]}, "w": {"vary": [5, 6]}})
    groups = alternatives.groups(lambda path: path == "p")
    assert [{alternatives[k].value["w"] for k in groups[group]} for group in range(2)] == [{5}, {6}]
    assert len(groups[0]) == len(groups[1]) == 3


def test_no_other_alternative_is_made():
    node = {key: {"vary": list(range(1000))} for key in "abcdef"}
    alternatives = Alternatives(node)
    assert len(alternatives) == 10**18
    assert alternatives[123_456_789_012_345_678].value == dict(zip("abcdef", [123, 456, 789, 12, 345, 678]))
    groups = alternatives.groups(lambda path: path == "f")
    assert groups[123][:2] == [123_000, 123_001]


@pytest.mark.parametrize("index", [6, -7])
def test_there_is_no_alternative_beyond_the_last(index):
    with pytest.raises(IndexError):
        Alternatives({"a": {"vary": [1, 2]}, "b": {"vary": [3, 4, 5]}})[index]


@pytest.mark.parametrize("other", [[1], [1, 2, 3], []])
def test_what_expand_refuses_is_refused_in_the_same_sentence(other):
    node = {"a": {"vary": [1, 2], "zip": "z"}, "b": {"vary": other, "zip": "z"}}
    sentence = outcome(expand, node)
    assert isinstance(sentence, str)
    assert outcome(Alternatives, node) == sentence
