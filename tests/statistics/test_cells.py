"""In at least so many cells: by hand, by its error rate where cells share their data, and with its interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from workbench.errors import InputError
from workbench.statistics.cells import Cell, at_least, share_of_cells

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(P_VALUES)
def test_more_cells_are_never_surer(p_values):
    results = [at_least(p_values, count) for count in range(len(p_values) + 2)]
    assert results == sorted(results) and results[0] == 0.0 and results[-1] == 1.0
    assert results[1] == min(1.0, len(p_values) * min(p_values)) and results[-2] >= max(p_values)


@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_it_errs_in_no_more_than_alpha_of_all_studies(shared):
    """Three of eight cells hold for sure; that a fourth does is said at alpha, also of cells that share their data."""
    rng = np.random.default_rng(7)
    common, own = rng.normal(size=(20_000, 1)), rng.normal(size=(20_000, 5))
    luck = ndtr(np.sqrt(shared) * common + np.sqrt(1 - shared) * own)
    errors = [at_least([0.0, 0.0, 0.0, *row], 4) < 0.05 for row in luck]
    assert 0.005 < np.mean(errors) < 0.052


def test_cells_that_are_sure_make_the_lower_limit_and_cells_that_are_not_the_upper():
    yes, no, open_ = Cell("a", True, 1e-6, 1.0), Cell("b", False, 1.0, 1e-6), Cell("c", True, 0.2, 1.0)
    finding = share_of_cells("x", "in a tenth", [yes] * 3 + [no] * 5 + [open_] * 2, 0.1, n=40)
    assert finding.interval is not None
    assert finding.interval[:3] == pytest.approx((0.5, 0.3, 0.5)) and finding.interval.method == "holm"
    assert finding.note == "5 of 10 cells: a, a, a, c, c; sure of 3, at most 5"
    assert finding.p_for == pytest.approx(1e-5)
    assert (finding.side, finding.p_against, finding.n) == ("for", 1.0, 40)


@pytest.mark.parametrize(("share", "side"), [(0.0, "for"), (0.3, "for"), (0.31, "neither"), (0.6, "against")])
def test_a_share_is_held_against_what_is_sure(share, side):
    cells = [Cell("a", True, 1e-6, 1.0)] * 3 + [Cell("b", False, 1.0, 1e-6)] * 5 + [Cell("c", True, 0.2, 1.0)] * 2
    assert share_of_cells("x", "so many", cells, share, n=40).side == side


def test_no_cells_are_refused():
    with pytest.raises(InputError, match=r"cells must have at least one cell\. Got \[\]\."):
        share_of_cells("x", "y", [], 0.1, n=1)
