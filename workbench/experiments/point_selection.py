"""Some points of a sweep, named by a few words, with the baselines that they are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from workbench.errors import InputError, nearest_name
from workbench.experiments.results import Results
from workbench.runs.run import PlannedPoint

Runs = TypeVar("Runs", bound=Results)

MOST_NAMED = 8
"""Upper bound on the number of values that a refusal lists."""


def only_points(runs: Runs, words: Sequence[str]) -> Runs:
    """Return the runs of the points that words name, and of their baselines; p-values stay corrected over the sweep.

    Parameters
    ----------
    words : sequence of str
        Each the value of a varied lever (`best_fit`, also of `best_fit(tie=high)`), or LEVER=VALUE (`segments=64`). A
        point has to match one word of each lever that words name.

    Raises
    ------
    InputError
        A word names no point, or together they name none.

    Examples
    --------
    >>> import workbench as wb
    >>> rules = {"vary": ["first_fit", "best_fit", "worst_fit"]}
    >>> sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 9}}
    >>> runs = wb.run({**sweep, "policy": {"placement": rules}}, workers=0)
    >>> [point.coordinates["policy.placement"] for point in only_points(runs, ["best_fit", "first_fit"]).points]
    ['first_fit', 'best_fit']
    """
    wanted: dict[str, list[str]] = {}
    for word in words:
        for path in _paths_of(runs, word):
            wanted.setdefault(path, []).append(word)
    kept = {point.id for point in runs.points if all(_is_one(point, path, wanted[path]) for path in wanted)}
    if not kept:
        raise InputError(f"no point of {runs.plan.sweep.name} is all of {', '.join(words)}.")
    ids = kept | {str(point.baseline) for point in runs.points if point.id in kept}
    plan = replace(runs.plan, points=[point for point in runs.points if point.id in ids])
    rows = [row for row in runs.rows.values() if row.point in ids]
    chosen = type(runs)(plan, rows, runs.folder, runs.seconds)
    chosen.whole = runs.whole or runs
    chosen.version_note, chosen.code_notes = runs.version_note, runs.code_notes
    return chosen


def _paths_of(runs: Results, word: str) -> list[str]:
    """Return the levers that a word is a value of."""
    paths = [path for path in runs.varied if any(_is(point, path, word) for point in runs.points)]
    if not paths:
        values = [str(point.coordinates[path]) for point in runs.points for path in point.coordinates]
        known = list(dict.fromkeys(values))
        near = nearest_name(word, known)
        cure = f" Did you mean {near}?" if near else ""
        listed = ", ".join(known[:MOST_NAMED]) + (", ..." if len(known) > MOST_NAMED else "")
        raise InputError(f"no point of {runs.plan.sweep.name} is {word!r}; there are {listed}.{cure}")
    return paths


def _is_one(point: PlannedPoint, path: str, words: Sequence[str]) -> bool:
    return any(_is(point, path, word) for word in words)


def _is(point: PlannedPoint, path: str, word: str) -> bool:
    if path not in point.coordinates:
        return False
    value = str(point.coordinates[path])
    name, mark, rest = word.partition("=")
    if mark and "(" not in name:
        return (path == name or path.endswith(f".{name}")) and _same(value, rest)
    return _same(value, word)


def _same(value: Any, word: str) -> bool:
    """Return whether a value is a word, or a policy of that name with levers."""
    return value == word or (value.startswith(f"{word}(") and value.endswith(")"))
