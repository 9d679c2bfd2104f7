"""The fit of the lock model, on curves that the model itself makes; no card is needed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines.malloc_cases import batch, simulate
from tests.junk import refusal
from workbench.explain.malloc_validation import Curve, LockFit, fitted
from workbench.policies.malloc import BumpPointer, PerThread

THREADS = np.array([1, 32, 256, 1024, 4096])


def curve(fit, way="per_thread_lock"):
    return Curve("by hand", way, THREADS, THREADS, fit.microseconds(THREADS))


@pytest.mark.parametrize("true", [LockFit(4.0, 0.3, 0.001, 0.0), LockFit(5.0, 0.2, 0.0, 0.0)])
def test_the_figures_of_a_curve_that_the_model_made_are_found(true):
    fit = fitted(curve(true))
    assert fit[:3] == pytest.approx(true[:3], rel=1e-6, abs=1e-9)
    assert fit.error < 1e-9


def test_a_curve_that_falls_gives_no_figure_below_zero():
    fit = fitted(Curve("by hand", "warp_lock", THREADS, THREADS, np.linspace(9, 5, 5)))
    assert min(fit[:3]) >= 0
    assert fit.error > 0.05


@pytest.mark.parametrize("contenders", [1, 2, 33])
def test_the_engine_with_the_fitted_levers_takes_what_the_model_says(contenders):
    """At 1,000 MHz: holds of 300 cycles, 7 more for each who waits; a launch is not part of the engine."""
    fit = fitted(curve(LockFit(4.0, 0.3, 0.007, 0.0)))
    lock, atomics = fit.levers(1000.0)
    record = simulate(batch([8] * contenders), PerThread(), BumpPointer(), lock, atomics=atomics)
    assert record.ended.max() == pytest.approx(1000 * (fit.microseconds(np.array(contenders)) - fit.launch_us))


def test_a_figure_beyond_its_lever_is_one_sentence():
    assert "cycles_a_waiter must be" in refusal(LockFit(4.0, 0.3, 2.0, 0.0).levers, 1000.0)


def test_too_few_points_are_one_sentence():
    few = Curve("by hand", "warp_lock", THREADS[:2], THREADS[:2], np.array([1.0, 2.0]))
    assert refusal(fitted, few).startswith("a fit needs at least three points with times above zero. Got [1.0, 2.0].")
