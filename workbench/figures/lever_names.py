"""What the levers of a sensitivity study are called in figures."""

from __future__ import annotations

from collections import Counter

from workbench.experiments.run_set import RunSet
from workbench.figures.axis_words import levers_on
from workbench.studies.sensitivity.analyse import Analysis


def lever_names(runs: RunSet, one: Analysis) -> tuple[str, ...]:
    """Return the levers' names in the words of their declarations; by their paths where two would be called the
    same."""
    setup = next(point.setup for point in runs.points if point.id == one.point)
    words = [", ".join(lever.name.replace("_", " ") for lever in levers_on(path, setup)) for path in one.paths]
    times = Counter(words)
    return tuple(word if word and times[word] == 1 else path for word, path in zip(words, one.paths, strict=True))
