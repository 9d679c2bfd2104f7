"""Which run of every point does a figure show, and which span of its cycles?"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from workbench.errors import InputError, shown
from workbench.experiments.run_set import RunSet
from workbench.figures.finished import none_finished


def common_seed(runs: RunSet, wanted: int | None, figure: str) -> int:
    """Return the seed that is wanted, or the first that every point finished.

    Raises
    ------
    InputError
        A point has no finished run, or no seed (or not the one wanted) was finished by all.
    """
    finished = [
        {row.seed for row in runs.rows.values() if row.point == p.id and row.status == "done"} for p in runs.points
    ]
    for point, seeds in zip(runs.points, finished, strict=True):
        if not seeds:
            raise none_finished(runs, point, figure)
    common = [seed for seed in runs.seeds if all(seed in seeds for seeds in finished)]
    if not common:
        raise InputError(f"{figure} needs one seed that every point finished; there is none.")
    if wanted is not None and wanted not in common:
        raise InputError(f"{figure} needs a seed that every point finished. Got {wanted}. Nearest: {common[0]}.")
    return common[0] if wanted is None else wanted


def share_shown(first: int, last: int, ends: Sequence[int]) -> str:
    """Return how much of some runs a picture shows, from when to when, where the runs end at these cycles.

    >>> share_shown(0, 800, [5000, 6400]), share_shown(0, 90, [90, 80]), share_shown(10, 60, [100])
    ('cycles 0 to 800 of 5,000 to 6,400 (12 to 16 %)', 'whole runs', 'cycles 10 to 60 of 100 (50 %)')
    """
    if first == 0 and last >= max(ends):
        return "whole runs" if len(ends) > 1 else "the whole run"
    shares = sorted(100 * max(min(last, end) - first, 0) / max(end, 1) for end in ends)
    of = " to ".join(dict.fromkeys(f"{end:,}" for end in (min(ends), max(ends))))
    percent = " to ".join(
        dict.fromkeys(f"{share:.0f}" if share >= 1 else "under 1" for share in (shares[0], shares[-1]))
    )
    return f"cycles {first:,} to {last:,} of {of} ({percent} %)"


def chosen_span(cycles: Any, figure: str, what: str = "cycles") -> tuple[int, int]:
    """Return from when to when, as chosen: two whole numbers, the second beyond what is shown.

    Raises
    ------
    InputError
        They are no span.
    """
    try:
        first, last = map(operator.index, cycles)
    except (TypeError, ValueError):
        first, last = 0, 0
    if not 0 <= first < last:
        raise InputError(f"{figure} shows {what}=(from, to) with 0 <= from < to. Got {shown(cycles)}.")
    return first, last
