"""Shares as whole numbers, for routines by address return nothing else."""

from __future__ import annotations

from workbench.compiled import inlined

ONE = 1 << 32
"""A share of 1."""


@inlined
def share(part: int, whole: int) -> int:
    """Return part over whole in parts of `ONE`, rounded down; 0 of nothing.

    >>> share(1, 4) / ONE, share(0, 0)
    (0.25, 0)
    """
    return part * ONE // whole if whole > 0 else 0
