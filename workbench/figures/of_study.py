"""Figures of a tuning study: from its results instead of a set of runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.figures.save import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from workbench.studies.tuning.results import StudyResults


class OfStudy(NamedTuple):
    """One figure of a study."""

    name: str
    description: str
    """What one sees in it, in a sentence."""
    data: Callable[[StudyResults], Any]
    """What is drawn; None where the study has nothing of the kind."""
    draw: Callable[[Any], Figure]
    """From what is drawn to a Matplotlib figure, which a notebook cell shows as it is."""

    def figure(self, results: StudyResults) -> Figure | None:
        """Return the figure of a study, drawn with Matplotlib; a notebook cell shows it."""
        data = self.data(results)
        return None if data is None else self.draw(data)

    def save(self, results: StudyResults, folder: Path) -> list[Path]:
        """Return the figure as `name`.pdf, .png and .csv in a folder; no file where there is nothing to draw.

        Raises
        ------
        StoreError
            A file cannot be written.
        """
        data = self.data(results)
        return [] if data is None else save(self.draw(data), data, folder, self.name)
