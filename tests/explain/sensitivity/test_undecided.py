"""A lever whose interval is wider than its effect is undecided, and the samples named do decide it."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.experiments.designs import Axis, Morris, Saltelli
from workbench.explain.sensitivity import elementary_effects, sobol_indices
from workbench.explain.sensitivity.analysis import Analysis, samples_needed, undecided
from workbench.metrics.measure import Measure

AXES = [Axis(name, "number", 0, 1) for name in "abc"]
MEASURE = Measure("waits", "cycles", "lower", "how long")


def analysed(design: Saltelli | Morris) -> Analysis:
    """Return the analysis of a line whose last lever matters little, with a wave that few samples cannot follow."""
    ranks = design.ranks(AXES)
    outputs = 3 * ranks[:, 0] + ranks[:, 1] * np.sin(20 * ranks[:, 0]) + 0.01 * ranks[:, 2]
    if isinstance(design, Saltelli):
        estimates = sobol_indices(outputs, len(AXES), second_order=design.second_order)
    else:
        estimates = elementary_effects(outputs, ranks, design.levels)
    return Analysis("", MEASURE, "mean", ("a", "b", "c"), "", len(outputs), 1, estimates)


@pytest.mark.parametrize(
    ("interval", "needed"),
    [
        ((0.5, 0.25, 0.75), None),
        ((0.25, 0.0, 0.5), 400),
        ((-0.25, -0.5, 0.0), 400),
        ((0.0, 0.0, 0.0), None),
        ((0.0, -0.02, 0.02), None),
        ((0.0, -0.1, 0.1), 1600),
    ],
)
def test_samples_needed_shrink_the_interval_to_the_effect_or_to_what_is_small(interval, needed):
    assert samples_needed(*interval, 100, small=0.05) == needed


@pytest.mark.slow
def test_few_samples_leave_a_lever_undecided_and_following_the_advice_decides_it():
    design, raises = Saltelli(base=32), 0
    while sentences := list(undecided(analysed(design), design)):
        assert all("waits: " in one and "undecided, raise the samples to base: " in one for one in sentences)
        raised = max(int(sentence.rsplit(" ", 1)[1]) for sentence in sentences)
        assert raised.bit_count() == 1 and raised > design.base
        design, raises = Saltelli(base=raised), raises + 1
        assert raises <= 3
    assert raises > 0


@pytest.mark.slow
def test_walks_are_raised_in_trajectories():
    design = Morris(trajectories=2)
    assert any("raise the samples to trajectories: " in sentence for sentence in undecided(analysed(design), design))
    many = Morris(trajectories=2000)
    assert list(undecided(analysed(many), many)) == []
