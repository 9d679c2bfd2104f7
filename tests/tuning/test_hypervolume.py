"""The hypervolume against a count of cells, and its history against recomputing it trial by trial."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import hypervolume as cells
from tests.slow import examples
from workbench.tuning.front import on_front
from workbench.tuning.hypervolume import history, hypervolume, reference_point


def points(objectives, most=8):
    return st.lists(st.tuples(*[st.integers(0, 6)] * objectives), min_size=1, max_size=most)


@examples(60, 400)
@given(st.integers(1, 4).flatmap(points))
def test_it_is_the_number_of_cells(rows):
    reference = [5] * len(rows[0])
    assert hypervolume(np.array(rows, float), np.array(reference, float)) == cells.hypervolume(rows, reference)


@examples(20, 300)
@given(points(2, 12))
def test_the_front_is_what_no_other_beats(rows):
    def beaten(row):
        return any(all(a <= b for a, b in zip(o, row)) and any(a < b for a, b in zip(o, row)) for o in rows)

    assert on_front(np.array(rows)).tolist() == [not beaten(row) for row in rows]


@examples(20, 300)
@given(st.lists(st.one_of(st.none(), st.tuples(*[st.integers(0, 5)] * 3)), min_size=1, max_size=10))
def test_the_history_is_that_of_every_prefix(rows):
    reference = np.array([6.0, 6.0, 6.0])
    result = history(rows, reference).volumes
    if not any(row is not None for row in rows):
        assert not result.any()
        return
    for k, volume in enumerate(result):
        before = [row for row in rows[: k + 1] if row is not None]
        assert volume == (cells.hypervolume(before, [6, 6, 6]) if before else 0)


def test_every_end_of_the_front_counts_from_the_reference_point():
    costs = np.array([[0.0, 10.0], [10.0, 0.0], [50.0, 50.0]])
    assert reference_point(costs).tolist() == [11.0, 11.0]
    for left_out in range(2):
        assert hypervolume(np.delete(costs, left_out, 0), np.array([11.0, 11.0])) < hypervolume(costs, [11.0, 11.0])


def test_a_front_without_extent_is_measured_by_all_trials():
    assert reference_point(np.array([[1.0], [11.0]])).tolist() == [2.0]
    assert reference_point(np.array([[3.0, 4.0]])).tolist() == pytest.approx([3.1, 4.1])


def test_how_many_trials_were_enough():
    result = history([(4.0,), (2.0,), None, (1.0,)], np.array([5.0]))
    assert result.volumes.tolist() == [1.0, 3.0, 3.0, 4.0]
    assert (result.trials_to(0.75), result.trials_to(0.76), result.trials_to(1, final=5.0)) == (2, 4, None)
    assert history([None, None]).trials_to(0.95) is None
