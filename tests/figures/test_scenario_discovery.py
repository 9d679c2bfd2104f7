"""The figure of scenario discovery: its data are the search's own, with and without a box."""

from __future__ import annotations

import numpy as np
import pytest

from tests.explain.discovery.made_up import runs_of
from tests.explain.discovery.test_discovery import _few_shuffles, planted  # noqa: F401  (a fixture)
from workbench.errors import InputError
from workbench.figures import figure

FIGURE = figure("scenario_discovery")
pytestmark = pytest.mark.usefixtures("_few_shuffles")


def test_the_trajectory_the_pairs_and_the_box_are_those_of_the_search():
    data = FIGURE.choose(runs_of(planted))
    assert data.chosen == (1, 1)
    assert data.coverage[0] == 1
    assert data.density[0] == data.rate == pytest.approx(12 / 60)
    assert len(data.pairs) == 3
    (across, up), law = data.pairs[0], data.pairs[1][1]
    assert (across.low, across.high, up.low, up.high) == (256, np.inf, -np.inf, 300)
    assert law.categories == ("constant(4)", "uniform(1, 8)", "constant(8)")
    lengths = {len(column) for column in data.columns().values()}
    assert lengths == {len(data.coverage) + 60 * 3}


def test_without_a_box_it_says_so_and_still_draws():
    draws, scattered = np.random.default_rng(4), {}
    data = FIGURE.choose(runs_of(lambda point: scattered.setdefault(point.id, draws.random() < 0.4)))
    assert np.isnan(data.chosen[0])
    assert "no box is better than that" in data.note
    assert not data.inside.any()
    assert len(FIGURE.draw(data).axes) == 2


def test_a_policy_or_box_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="unknown policy 'best_fit'"):
        FIGURE.choose(runs_of(planted), policy="best_fit")
    with pytest.raises(InputError, match="no box 2"):
        FIGURE.choose(runs_of(planted), box=2)
