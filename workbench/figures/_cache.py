"""Figures that would come out the same are not drawn again.

Next to the files lies a file with their content and their style. What a figure shows follows from the runs (rows,
sweep, points), from its choices, from the code that draws it and from the versions of what draws. Where none of it
changed, and the files are as they were written, they stay.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.experiments.results_folder import write_json
from workbench.experiments.saved_results import named, resolved
from workbench.identity import digest_of
from workbench.runs.origin import origin

if TYPE_CHECKING:
    from workbench.experiments.results import Results
    from workbench.tuning.results import StudyResults


DRAWN = ".drawn.json"
"""The file next to the figures."""
_DRAWS = ("matplotlib", "pandas")
"""Packages other than those that compute, whose version may show in a figure."""


class Folder:
    """A folder of figures, and what is known of those in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder)
        self._notes = _notes(self._folder / DRAWN)

    def drawn(self, name: str, digest: str, draw: Callable[[], list[Path]]) -> list[Path]:
        """Return the files of a figure: those that lie there where they show the same, else drawn again.

        Parameters
        ----------
        digest : str
            The digest of what it is to show; empty where that cannot be known, which draws it.
        draw : callable
            Writes the files; whatever it raises is passed on.
        """
        note = self._notes.get(name, {})
        if digest and note.get("shows") == digest and note["files"] == _digests(self._folder, note["files"]):
            return [self._folder / file for file in note["files"]]
        paths = draw()
        files = _digests(self._folder, [path.name for path in paths])
        self._notes = {**_notes(self._folder / DRAWN), name: {"shows": digest, "files": files}}
        if paths:
            write_json(self._folder / DRAWN, self._notes)
        return paths


def _notes(path: Path) -> dict[str, Any]:
    """Return the kept data of the figures; nothing where the file is missing or of somebody else."""
    try:
        notes = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    ours = isinstance(notes, dict) and all(isinstance(one, dict) and "files" in one for one in notes.values())
    return notes if ours else {}


def _digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    return {name: _digest(folder / name) for name in sorted(names)}


def _digest(path: Path) -> str:
    try:
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return "missing"


def digest_of_runs(runs: Results) -> str:
    """Return the digest of what figures of some runs can show: the sweep, its points, and every row."""
    points = [(point.id, point.baseline, repr(point.coordinates), runs.label(point)) for point in runs.points]
    rows = sorted((row.id, row.status, repr(sorted(row.measures.items()))) for row in runs.rows.values())
    return _hashed(_text(resolved(runs)), points, rows)


def digest_of_study(results: StudyResults) -> str:
    """Return the digest of what figures of a study can show: every trial, and the front on fresh seeds."""
    trials = [(one.number, one.point, one.values, one.limits, repr(one.proposal.chosen)) for one in results.all_trials]
    fresh = "" if results.holdout is None else digest_of_runs(results.holdout)
    return _hashed(results.study.name, _text(named(results.study.config)), trials, fresh)


def figure_digest(runs: str, code: Iterable[Any], choices: Mapping[str, Any] | None = None) -> str:
    """Return the digest of what a figure shows; empty where its code cannot be told from other code.

    Parameters
    ----------
    runs : str
        The digest of what it is drawn of.
    code : iterable of callables
        Its data function and its draw function: those of the user's are told apart by what they execute.
    choices : mapping, optional
        The choices of its data function, and its format.
    """
    try:
        own = [digest_of(one) for one in code if not one.__module__.startswith("workbench.")]
    except WorkbenchError:
        return ""
    return _hashed(runs, own, sorted((choices or {}).items()), _versions())


@functools.cache
def _versions() -> str:
    """Return the sources of this package and the versions of what computes and draws, as one text."""
    here = origin()
    packages = {name: _version(name) for name in _DRAWS}
    return _text({"sources": here.sources, **here.versions, **packages})


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def _hashed(*parts: Any) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()
