"""A measure is declared once: its unit, which direction is better, what it says."""

from __future__ import annotations

from typing import Literal, NamedTuple

Better = Literal["lower", "higher", "neither"]


class Measure(NamedTuple):
    """One number that is computed of every run of an engine."""

    name: str
    unit: str
    better: Better
    says: str

    @property
    def label(self) -> str:
        """The axis label.

        >>> Measure("mean_queue", "workgroups", "lower", "").label
        'mean queue (workgroups)'
        """
        words = self.name.removesuffix("_cycles").replace("_", " ")
        return f"{words} ({self.unit})" if self.unit else words


def declared(*measures: Measure) -> dict[str, Measure]:
    """Measures by name."""
    return {measure.name: measure for measure in measures}
