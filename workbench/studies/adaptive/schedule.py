"""The looks that every interval and p-value of a sweep answers for.

Whoever runs more seeds into a folder after its results were shown has looked twice. With adaptive seeds they are added
until intervals are narrow, wherever they lie: such a rule cannot wait for an interval to look right, and its intervals
and p-values are those of one look.
"""

from __future__ import annotations

from workbench.experiments.run_set import RunSet
from workbench.studies.statistics.looks import Looks


def looks_of(runs: RunSet) -> Looks:
    """Return the numbers of seeds at which results were seen: those that the folder knows of, and that of now.

    With adaptive seeds it is the last alone: their rule looks at widths.
    """
    return Looks(tuple(sorted({*runs.plan.sweep.looks, max(len(runs.seeds), 1)})))
