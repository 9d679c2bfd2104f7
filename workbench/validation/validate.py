"""Compare the laws of the engines with public measurements on real cards.

The facts of a data set and the fitted levers of its laws are files of `data/validation/`, which a wheel carries too.
So a comparison needs no download; it can also be repeated from the public files themselves.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import InputError, file_guess, unknown_name
from workbench.strict_yaml import read_mapping
from workbench.validation.data_set import DataSet, Result

if TYPE_CHECKING:
    import pandas as pd

_MODULES: tuple[str, ...] = (
    *("nbody", "kernel_pairs", "waves_resident", "kernel_power"),
    *("tlb_chases", "tlb_sharing", "tlb_misses"),
    *("links", "link_logs"),
    *("block_order", "device_malloc"),
)
"""Modules of this package, each with a tuple SETS, in the order in which the table lists them."""


class Compared(NamedTuple):
    """A data set and the results of its laws."""

    data_set: DataSet
    results: Sequence[Result]
    facts: int
    """Rows of facts."""
    refitted: bool
    """Whether the levers were fitted now, as the facts came from files and not from this package."""


def data_sets(engine: str = "") -> list[DataSet]:
    """Return the data sets of an engine, or all of them.

    Raises
    ------
    InputError
        No data set belongs to that engine.
    """
    every = [each for name in _MODULES for each in importlib.import_module(f"workbench.validation.{name}").SETS]
    engines = [*dict.fromkeys(each.engine for each in every)]
    if engine and engine not in engines:
        raise unknown_name("", "engine with measurements", engine, engines)
    return [each for each in every if engine in ("", each.engine)]


def validate(engine: str = "") -> list[Compared]:
    """Return every law compared with the facts of this package, with the levers that were fitted before."""
    return [_compared(each, facts_of(each), levers_of(each), False) for each in data_sets(engine)]


def validate_files(folder: Path, engine: str = "") -> list[Compared]:
    """Return the laws compared with public files of a folder, with levers fitted now on the part that may be fitted.

    A file is used if a data set knows its format; all folders below are searched. Several data sets may know a format
    and tell files apart by content; a set to which no file belongs is left out.

    Raises
    ------
    InputError
        The folder does not exist, holds no file of a known format, or a file is broken.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: must be a folder with public files of measurements.{file_guess(folder)}")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    compared = []
    for each in data_sets(engine):
        if matching := [path for path in files if any(path.match(pattern) for pattern in each.files)]:
            facts = each.extract(matching)
            if len(facts):
                compared.append(_compared(each, facts, each.fit(facts), True))
    if not compared:
        patterns = ", ".join(dict.fromkeys(pattern for each in data_sets(engine) for pattern in each.files))
        raise InputError(f"{folder}: holds no file of measurements. Expected one of: {patterns}.")
    return compared


def _compared(
    data_set: DataSet, facts: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]], refitted: bool
) -> Compared:
    return Compared(data_set, data_set.judge(facts, levers), len(facts), refitted)


def facts_of(data_set: DataSet) -> pd.DataFrame:
    """Return the derived facts of a data set that this package carries; none where nothing public was measured."""
    import pandas as pd

    place = _folder() / f"{data_set.name}.csv"
    return pd.read_csv(place, comment="#", skip_blank_lines=True) if place.exists() else pd.DataFrame()


@cache
def _levers() -> Mapping[str, Any]:
    return read_mapping(_folder() / "levers.yaml")


def levers_of(data_set: DataSet) -> Mapping[str, Mapping[str, Any]]:
    """Return the levers of each law that were fitted on a data set before its other part was judged."""
    return _levers().get(data_set.name, {})


def _folder() -> Path:
    packaged = Path(__file__).with_name("data")
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "data" / "validation"
