"""Which levers a study could not decide on, and how many samples would do: its intervals are wider than its effects."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from workbench.experiments.designs import Morris, Saltelli
from workbench.studies.sensitivity.analyse import Analysis
from workbench.studies.sensitivity.effects import Effects
from workbench.studies.sensitivity.estimates import Estimates

SMALL = 0.05
"""Of all variance, or of the largest effect: an interval no wider than this decides that a lever matters little."""


def samples_needed(value: float, low: float, high: float, samples: int, small: float) -> int | None:
    """Return how many samples would make an interval no wider than its effect, None where these do.

    The width of an interval falls with the square root of the samples. As the effect is an estimate too, a study near
    the limit may have to be raised twice.

    Parameters
    ----------
    value, low, high : float
        The estimate and the limits of its interval, in any one unit.
    samples : int
        Pairs or walks behind it.
    small : float
        The width that is enough however small the effect, in the same unit, above 0.

    Examples
    --------
    >>> samples_needed(0.5, 0.4, 0.6, 64, small=0.05)
    >>> samples_needed(0.1, -0.1, 0.3, 64, small=0.05)
    1024
    """
    ratio = (high - low) / max(abs(value), small)
    return math.ceil(samples * ratio**2 * (1 - 1e-9)) if ratio > 1 else None


def undecided(one: Analysis, design: Saltelli | Morris) -> Iterator[str]:
    """Yield a sentence a lever whose interval is wider than its effect, with the samples to raise the design to.

    Parameters
    ----------
    one : Analysis
        Of one measure and way to run.
    design : Saltelli or Morris
        What its runs were drawn by; the sentence names its lever (`base`, a power of two, or `trajectories`).
    """
    for k, path in enumerate(one.paths):
        needed = [(name, number) for name, number in _needed(one, design, k) if number is not None]
        if needed:
            most = max(number for _, number in needed)
            names = " and ".join(name for name, _ in needed)
            where = f"{one.way}: " if one.way else ""
            subject = f"{where}{one.measure.name}: {names} of {path}"
            yield f"{subject}: undecided, raise the samples to {_written(design, most)}"


def _needed(one: Analysis, design: Saltelli | Morris, k: int) -> Iterator[tuple[str, int | None]]:
    samples = design.base if isinstance(design, Saltelli) else design.trajectories
    for name, estimates, small in _estimates(one):
        value, low, high = (float(side[k]) for side in estimates)
        yield name, samples_needed(value, low, high, samples, small)


def _estimates(one: Analysis) -> Iterator[tuple[str, Estimates, float]]:
    if isinstance(one.found, Effects):
        yield "mean_size", one.found.mean_size, SMALL * float(np.max(one.found.mean_size.value))
    else:
        yield "first", one.found.first, SMALL
        yield "total", one.found.total, SMALL


def _written(design: Saltelli | Morris, samples: int) -> str:
    if isinstance(design, Saltelli):
        return f"base: {1 << (samples - 1).bit_length()}"
    return f"trajectories: {samples}"
