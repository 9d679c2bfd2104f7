"""Which point of a front is the one to take, where only one can be taken?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.studies.tuning.objectives import Costs


def compromise(costs: Sequence[Costs]) -> int:
    """Return the place of the point that is nearest to the best of every objective; the first one wins a tie.

    Each objective is scaled from its best to its worst value of these points, so that no unit counts more than another.
    With one objective that is the best point.

    Parameters
    ----------
    costs : sequence of costs
        At least one; a point with a cost that is not finite comes last.

    Examples
    --------
    >>> compromise([(0.0, 9.0), (2.0, 2.0), (9.0, 0.0)]), compromise([(3.0,), (1.0,), (2.0,)])
    (1, 1)
    """
    values = np.array(costs, float)
    known = np.isfinite(values).all(axis=1)
    if not known.any():
        return 0
    low, span = values[known].min(axis=0), np.ptp(values[known], axis=0)
    far = np.full(len(values), math.inf)
    far[known] = np.linalg.norm((values[known] - low) / np.where(span > 0, span, 1.0), axis=1)
    return int(np.argmin(far))
