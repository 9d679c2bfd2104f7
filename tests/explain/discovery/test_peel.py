"""Peeling and pasting: the same boxes as a slow twin, and what each promises."""

from __future__ import annotations

import numpy as np
import pytest

from tests.explain.discovery.made_up import random_points
from tests.oracles.scenario_discovery import peeled
from workbench.explain.discovery.cases import column
from workbench.explain.discovery.prim import limits, members, paste, peel, quasi_p, whole, without_idle


def columns_of(points, levers):
    return tuple(column(lever, [point[lever] for point in points]) for lever in levers), np.array(
        [point["hit"] for point in points]
    )


@pytest.mark.parametrize("seed", range(12))
def test_every_box_is_that_of_the_slow_twin(seed):
    points, levers = random_points(seed)
    columns, hit = columns_of(points, levers)
    boxes, twin = peel(columns, hit), peeled(points, levers)
    assert len(boxes) == len(twin) > 5
    for box, kept in zip(boxes, twin, strict=True):
        inside = members(columns, box.inside)
        assert [point for point, one in zip(points, inside, strict=True) if one] == kept
        assert (box.size, box.hits) == (len(kept), sum(point["hit"] for point in kept))


def test_of_equal_slices_the_smaller_then_the_first_lever_then_the_low_end_is_taken():
    both = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    columns = (column("a", both), column("b", both))
    first = peel(columns, np.array([k in (4, 5) for k in both]), alpha=0.1)[1]
    assert first.step == "a"
    assert first.inside[0].tolist() == [False, *[True] * 9, False]
    few = column("c", [0, 0, 0, 1, 1, 1, 1, 1, 1, 1])  # its slice costs three points of no interest, the others one
    assert peel((few, column("a", both)), np.array([k in (4, 5) for k in both]), alpha=0.1)[1].step in ("a", "c")


@pytest.mark.parametrize("seed", range(12))
def test_pasting_never_thins_a_box_nor_shrinks_it(seed):
    points, levers = random_points(seed)
    columns, hit = columns_of(points, levers)
    for box in peel(columns, hit)[1:]:
        wider = paste(columns, hit, box)
        assert wider.density >= box.density
        assert wider.coverage >= box.coverage
        assert members(columns, wider.inside)[members(columns, box.inside)].all()
        assert wider.size == members(columns, wider.inside).sum()


def test_pasting_gives_back_what_a_slice_took_too_much_of():
    values = [*range(20)]
    columns, hit = (column("load", values),), np.array([k >= 9 for k in values])
    narrow = peel(columns, hit)[0]
    inside = np.array([k >= 14 for k in values] + [False])
    narrow = narrow._replace(inside=(inside,), size=6, hits=6)
    assert [one.value for one in limits(columns, paste(columns, hit, narrow))] == [9]


def test_a_quasi_p_value_is_the_binomial_tail_at_the_density_without_the_limit():
    from scipy.stats import binom

    points, levers = random_points(3)
    columns, hit = columns_of(points, levers)
    box = peel(columns, hit)[-3]
    for limit in limits(columns, box):
        inside = (*box.inside[: limit.place], limit.without, *box.inside[limit.place + 1 :])
        wider = members(columns, inside)
        expected = binom.sf(box.hits - 1, box.size, hit[wider].mean())
        assert quasi_p(columns, hit, box, limit) == pytest.approx(expected)


def test_an_idle_limit_is_dropped_and_a_telling_one_stays():
    load, idle = [k / 100 for k in range(100)], [k % 10 for k in range(100)]
    columns, hit = (column("load", load), column("idle", idle)), np.array([one >= 0.5 for one in load])
    start = whole(columns, hit)
    inside = (np.array([one >= 0.5 for one in load] + [False]), np.array([True] * 9 + [False] * 2))
    kept = members(columns, inside)
    box = start._replace(inside=inside, size=int(kept.sum()), hits=int(hit[kept].sum()))
    assert [columns[one.place].path for one in limits(columns, without_idle(columns, hit, box))] == ["load"]


def test_points_without_a_lever_go_with_the_first_slice_of_it():
    columns = (column("depth", [None, None, 1, 2, 3, 4, 5, 6, 7, 8]),)
    box = peel(columns, np.array([False, False, *[True] * 8]))[-1]
    assert box.density == 1
    assert [(one.side, one.value) for one in limits(columns, box)] == [("given", "")]
