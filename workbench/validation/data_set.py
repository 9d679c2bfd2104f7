"""Data sets of measurements on real cards, and the results of comparing a law with one of them.

A data set has derived facts in `data/validation/`. Part of them may be fitted, the rest is judged. A law is a rule of
an engine with its levers. The levers are fitted on the first part and kept before the second part is computed.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["confirmed", "refuted", "not tested"]


class Source(NamedTuple):
    """The public file or files from which facts are derived."""

    repository: str
    """Such as `sarchlab/mgpusim`."""
    commit: str
    path: str
    licence: str
    """`none` where the repository has no license: then facts are cited and no file is kept."""


class Curve(NamedTuple):
    """What a figure draws of one panel: measured values, the values that the law predicts, and those of the rival."""

    panel: str
    """What the panel shows, such as `stride 64 KB`; it names the part too where panels differ in it."""
    x_name: str
    """The quantity with its unit, such as `footprint, MB`."""
    y_name: str
    x: np.ndarray
    """float64[points]"""
    measured: np.ndarray
    """float64[points]"""
    predicted: np.ndarray
    """float64[points]; NaN where the law was not asked."""
    rival: np.ndarray
    """float64[points]; NaN where the rival has no value."""
    judged: np.ndarray
    """bool[points], False for a point that was fitted."""
    joined: bool = True
    """Whether x is a quantity, of which each value is a condition of its own; else x is only a place."""
    names: Sequence[str] = ()
    """The name of each point, where x is only a place."""
    line: str = ""
    """The law in the legend of a figure; empty = as the result calls it."""
    neither: np.ndarray | None = None
    """bool[points], True for a point that was neither fitted nor is judged."""


class Result(NamedTuple):
    """A law compared with the judged part of a data set."""

    law: str
    """The rule with its distinguishing lever, such as `hop_penalised, hop_factor 0.5`."""
    fitted: Mapping[str, Any]
    """The levers that were fitted and their values; empty where nothing was."""
    points: int
    """Judged points."""
    error: float
    """Mean error over the judged points, in `unit`."""
    unit: str
    """`%` or a unit such as `cycles`; the error of the rival is in the same unit."""
    r2: float
    """1 - residual / total sum of squares of the judged points; NaN where it has no meaning."""
    rival: str
    """The simplest other prediction, such as `the median`."""
    rival_error: float
    verdict: Verdict
    bar: str
    """The rule of the verdict, which was written down before the judged part was computed."""
    curves: Sequence[Curve] = ()
    note: str = ""
    """One sentence that a reader of the row needs."""
    alternative: bool = False
    """Whether no preset or default has this law: it shows what the measurements can exclude."""


class DataSet(NamedTuple):
    """One set of measurements of one card, and the functions that fit and judge laws on it."""

    name: str
    """In snake_case, also the stem of its files in `data/validation/`."""
    engine: str
    card: str
    measures: str
    """The measured quantity, in a few words."""
    sources: Sequence[Source]
    files: Sequence[str]
    """Patterns of the public files, as `Path.match` takes them; the set can be repeated from files that match."""
    extract: Callable[[Sequence[Path]], pd.DataFrame]
    """From public files to derived facts, none where all files are of other formats; raises InputError for a file that
    is broken."""
    fit: Callable[[pd.DataFrame], Mapping[str, Mapping[str, Any]]]
    """From facts to the fitted levers of each law; it reads only the part that may be fitted."""
    judge: Callable[[pd.DataFrame, Mapping[str, Mapping[str, Any]]], Sequence[Result]]
    """From facts and the fitted levers of each law to one result a law; without facts to none."""
    design: str = ""
    """The earlier fit, if the judged part was computed before this one; empty if it was not."""
    drawn: Sequence[str] = ()
    """Panels of its figure, where there are more than a page holds."""


NO_BAR = "no bar is set"
"""How the bar of a result begins that has none."""
MOST_GROUPS = 1 << 20
"""Workgroups of a kernel that is simulated: more than any file of measurements has."""
MOST_GBPS = 1e6
"""Of a measured link: more than any card has."""


def csv_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows below the line of column names of a CSV file; bytes that are no text are replaced.

    Raises
    ------
    InputError
        The file is no CSV file, or has no row.
    """
    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            rows = list(csv.DictReader(file))
    except csv.Error as wrong:
        raise InputError(f"{path}: must be a CSV file ({wrong}).") from None
    if not rows:
        raise InputError(f"{path}: must have a line of column names and a row below it.")
    return rows


def mean_error(measured: np.ndarray, predicted: np.ndarray) -> float:
    """Return the mean absolute error.

    >>> mean_error(np.array([1.0, 4.0]), np.array([2.0, 4.0]))
    0.5
    """
    return float(np.mean(np.abs(predicted - measured)))


def percent_error(measured: np.ndarray, predicted: np.ndarray) -> float:
    """Return the mean absolute error in percent of each measured value.

    >>> percent_error(np.array([2.0, 4.0]), np.array([3.0, 4.0]))
    25.0
    """
    return float(100 * np.mean(np.abs(predicted / measured - 1)))


def r_squared(measured: np.ndarray, predicted: np.ndarray) -> float:
    """Return 1 - residual / total sum of squares; NaN where all measured values are equal.

    >>> r_squared(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]))
    1.0
    """
    total = float(np.sum((measured - np.mean(measured)) ** 2))
    return 1 - float(np.sum((measured - predicted) ** 2)) / total if total else float("nan")
