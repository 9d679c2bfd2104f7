"""Contiguous dies: equal parts of a kernel in a row (spec 7, R7, V4, V12)."""

from __future__ import annotations

import pytest

from workbench.policies.dispatch.die import ContiguousDies, DieContract


class TestContiguousDies(DieContract):
    policy = ContiguousDies()


@pytest.mark.parametrize(
    ("groups", "dies", "expected"),
    [(6, 2, [0, 0, 0, 1, 1, 1]), (5, 2, [0, 0, 0, 1, 1]), (3, 4, [0, 1, 2]), (7, 3, [0, 0, 0, 1, 1, 2, 2])],
)
def test_v4_each_die_has_its_part(groups, dies, expected):
    assert [ContiguousDies().die_of([1] * dies, group=g, groups=groups) for g in range(groups)] == expected


def test_a_full_die_is_waited_for():
    assert ContiguousDies().die_of((1, 0), group=3, groups=4) == 1


@pytest.mark.parametrize("dies", range(1, 17))
def test_parts_differ_by_one_group_at_most_and_never_go_back(dies):
    for groups in (1, 7, 16, 40):
        given = [ContiguousDies().die_of([1] * dies, group=g, groups=groups) for g in range(groups)]
        sizes = [given.count(die) for die in range(dies)]
        assert given == sorted(given)
        assert max(sizes) - min(sizes) <= 1
