"""Points are counted before they are expanded: exactly as many as `expand` makes, and too many are refused at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench.errors import InputError
from workbench.experiments.choices import count_points, expand, refuse_too_many
from workbench.experiments.sweep import read_sweep

LEAVES = st.integers(0, 3)
ZIPPED = {"a": 2, "b": 3}
"""How many choices each zip has."""


def choices(inner):
    free = st.lists(inner, min_size=1, max_size=3).map(lambda items: {"vary": items})
    zipped = [
        st.lists(inner, min_size=count, max_size=count).map(lambda items, name=name: {"vary": items, "zip": name})
        for name, count in ZIPPED.items()
    ]
    return st.one_of(
        free, *zipped, st.dictionaries(st.sampled_from("xyz"), inner, max_size=3), st.lists(inner, max_size=3)
    )


@given(st.recursive(LEAVES, choices, max_leaves=12))
def test_as_many_are_counted_as_there_are(node):
    try:
        points = expand(node)
    except InputError:
        return  # zips within zips that are not equally long
    assert count_points(node, 10_000) == (len(points), True)


def sweep(**message):
    return {"engine": "shared_memory", "workload": {"synthetic": "random_workgroups", **message}}


THOUSAND = list(range(1, 1001))


def test_a_product_of_three_thousands_is_refused_with_its_count():
    message = sweep(
        count={"vary": THOUSAND},
        size={"uniform": [1, {"vary": THOUSAND}]},
        duration={"uniform": [1, {"vary": THOUSAND}]},
    )
    with pytest.raises(
        InputError, match=r"to 1,000,000,000 points, more than most_points \(100,000\); vary less at once"
    ):
        wb.plan(message)


def test_zips_that_have_nothing_in_common_are_not_multiplied_out():
    node = {name: {"vary": THOUSAND, "zip": name} for name in "abc"}
    with pytest.raises(InputError, match="multiply to at least 1,000,000 points"):
        refuse_too_many(node, 100_000)


def test_what_steps_together_is_counted_once():
    refuse_too_many({name: {"vary": THOUSAND, "zip": "one"} for name in "abc"}, 1000)


def test_a_key_of_the_sweep_says_how_many_there_may_be():
    message = sweep(count={"vary": [1, 2, 3]})
    with pytest.raises(InputError, match=r"to 3 points, more than most_points \(2\)"):
        wb.plan({**message, "most_points": 2})
    assert len(wb.plan({**message, "most_points": 3})) == 3
    with pytest.raises(InputError, match="most_points must be a whole number of at least 1"):
        read_sweep({**message, "most_points": 0})
