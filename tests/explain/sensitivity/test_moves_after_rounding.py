"""An elementary effect is what a move changed over the move that was made, not over the lattice's step."""

import numpy as np
import pytest

from workbench.experiments.designs import Axis, Morris
from workbench.explain.sensitivity.estimates import elementary_effects

AXES = [
    Axis("three", "integer", 1, 3),
    Axis("five", "integer", 0, 4),
    Axis("two", "category", 0, 1, values=("low", "high")),
    Axis("power", "power_of_two", 4, 7),
    Axis("log", "integer", 1, 1000, log=True),
]


@pytest.mark.parametrize("levels", [4, 6])
def test_a_true_effect_of_one_is_one_whatever_the_number_of_values(levels):
    """It used to be 0.75, 1.125 and 1.5 for levers of 3, 5 and 2 values, on four levels."""
    ranks = Morris(trajectories=12, levels=levels).ranks(AXES)
    shares = np.array([[axis.share_of(axis.at_share(r)) for axis, r in zip(AXES, row, strict=True)] for row in ranks])
    effects = elementary_effects(shares.sum(axis=1), ranks, levels, shares=shares)
    assert effects.mean == pytest.approx(np.ones(len(AXES)))
    assert effects.mean_size.value == pytest.approx(np.ones(len(AXES)))
    by_rank = elementary_effects(shares.sum(axis=1), ranks, levels)
    assert np.abs(by_rank.mean - 1).max() > 0.2


def test_a_move_that_comes_to_nothing_has_no_effect_and_spoils_none():
    axes = [Axis("same", "integer", 1, 1), Axis("x", "number", 0, 1)]
    ranks = Morris(trajectories=8).ranks(axes)
    shares = np.array([[axis.share_of(axis.at_share(r)) for axis, r in zip(axes, row, strict=True)] for row in ranks])
    effects = elementary_effects(3 * shares[:, 1], ranks, 4, shares=shares)
    assert effects.mean == pytest.approx([0, 3]) and np.isfinite(effects.mean_size.high).all()


@pytest.mark.parametrize("axis", AXES)
def test_a_share_is_read_back(axis):
    for share in (0.0, 1.0):
        assert axis.share_of(axis.at_share(share)) == pytest.approx(share)
