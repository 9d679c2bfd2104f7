"""The schedule of looks that every interval and p-value of a sweep answers for."""

from __future__ import annotations

from workbench.experiments.sweep import Sweep
from workbench.studies.statistics.looks import Looks


def looks_of(sweep: Sweep) -> Looks:
    """All scheduled looks of a sweep with adaptive seeds, those that came to nothing included; one look of any other.

    >>> from workbench.experiments.sweep import read_sweep
    >>> looks_of(read_sweep({"engine": "shared_memory", "workload": "bimodal", "seeds": 30}))
    Looks(counts=(30,))
    """
    return Looks(sweep.until.looks if sweep.until is not None else (max(len(sweep.seeds), 1),))
