"""The schedule of looks that every interval and p-value of a sweep answers for.

Seeds are added until intervals are narrow, wherever they lie. Such a rule cannot wait for an interval to look right,
and its intervals and p-values are those of one look, as if the number of seeds had been fixed.
"""

from __future__ import annotations

from workbench.experiments.sweep import Sweep
from workbench.studies.statistics.looks import Looks


def looks_of(sweep: Sweep) -> Looks:
    """Return the one look that decides something about where an interval lies: the last, whatever the rule for seeds.

    >>> from workbench.experiments.sweep import read_sweep
    >>> looks_of(read_sweep({"engine": "shared_memory", "workload": "bimodal", "seeds": 30}))
    Looks(counts=(30,))
    """
    return Looks((max(len(sweep.seeds), 1),))
