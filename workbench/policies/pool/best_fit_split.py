"""One request to a cache, asked without an engine."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.policies.pool.fit.best_fit import BestFit


def best_fit_split(cached: Sequence[int], size: int) -> tuple[int, int] | None:
    """Return the block that best fit takes for a request, and what remains of it when it is split; None = no block
    fits.

    Equal blocks are equal here, so there is no tie to break.

    Raises
    ------
    InputError
        A size is below 1.

    References
    ----------
    spec 5, R11, R12, V2-V4.

    Examples
    --------
    >>> best_fit_split(cached=[32, 96, 128], size=64), best_fit_split([32, 64, 96], 64), best_fit_split([32, 48], 64)
    ((96, 32), (64, 0), None)
    """
    taken = BestFit().take(cached, size)
    return None if taken is None else (cached[taken], cached[taken] - size)
