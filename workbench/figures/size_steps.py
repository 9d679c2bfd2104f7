"""Steps of size: which workgroups share a color, in figures and dashboards alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from workbench.number_text import bytes_said
from workbench.palette import LIGHT

STEPS = len(LIGHT.sizes)


class SizeSteps(NamedTuple):
    """At most five ranges of sizes, the smallest first."""

    bounds: tuple[tuple[int, int], ...]
    """The least and the largest size in each step."""

    def of(self, sizes: np.ndarray) -> np.ndarray:
        """Return the color of each size among the palette's `sizes`: int64[sizes]."""
        return np.asarray(self.colors())[np.searchsorted([most for _, most in self.bounds], sizes)]

    def colors(self) -> list[int]:
        """Return the color of each step: a place among the palette's `sizes`, spread out where the steps are few."""
        last = len(self.bounds) - 1
        return [round((STEPS - 1) * (k / last if last else 0.5)) for k in range(len(self.bounds))]

    def names(self, unit: str) -> list[str]:
        """Return the name of each step in a legend.

        >>> SizeSteps(((1, 1), (2, 8))).names("segments")
        ['1', '2 to 8 segments']
        """
        names = [f"{least:,}" if least == most else f"{least:,} to {most:,}" for least, most in self.bounds]
        return [*names[:-1], f"{names[-1]} {unit}"] if names else []

    def byte_names(self) -> list[str]:
        """Return the name of each step of bytes in a legend.

        >>> SizeSteps(((512, 512), (2048, 1 << 20))).byte_names()
        ['512 B', '2 KiB to 1 MiB']
        """
        return [
            bytes_said(least) if least == most else f"{bytes_said(least)} to {bytes_said(most)}"
            for least, most in self.bounds
        ]


def size_steps(sizes: Iterable[np.ndarray]) -> SizeSteps:
    """Return the steps of some sizes: each holds a fifth of the different sizes, or one where they are few.

    >>> size_steps([np.array([8, 1, 8]), np.array([2])])
    SizeSteps(bounds=((1, 1), (2, 2), (8, 8)))
    >>> size_steps([np.arange(1, 11)]).of(np.array([1, 2, 3, 10])).tolist()
    [0, 0, 1, 4]
    """
    different = np.unique(np.concatenate([np.zeros(0, np.int64), *sizes]))
    groups = np.array_split(different, min(STEPS, max(len(different), 1)))
    return SizeSteps(tuple((int(group[0]), int(group[-1])) for group in groups if len(group)))
