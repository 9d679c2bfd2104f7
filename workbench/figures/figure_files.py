"""What a figure draws as a table of columns, and its files: PDF, PNG, CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.errors import StoreError
from workbench.experiments.results_folder import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Column = np.ndarray | Sequence[Any]


class Drawn(Protocol):
    """Exactly what a figure draws; every data function returns a named tuple of this kind."""

    def columns(self) -> dict[str, Column]:
        """Return the same as a tidy table: columns of equal length, a unit in the name where there is one."""


def below(parts: Iterable[Mapping[str, Any]]) -> dict[str, Column]:
    """Return tables of the same columns one below the other; a value alone stands in every row of its table.

    >>> {name: column.tolist() for name, column in below([{"of": "a", "n": [1, 2]}, {"of": "bc", "n": [3]}]).items()}
    {'of': ['a', 'a', 'bc'], 'n': [1, 2, 3]}
    """
    tables = [dict(zip(part, np.broadcast_arrays(*map(np.asarray, part.values())), strict=True)) for part in parts]
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


_UNDATED = {"pdf": {"CreationDate": None}, "png": {"Software": None}}
"""Without these the same figure has other bytes every second (PDF) or with every version of Matplotlib (PNG)."""


def save(figure: Figure, data: Drawn, folder: Path, name: str, kinds: Sequence[str] = ("pdf", "png")) -> list[Path]:
    """Write `name`.pdf, .png and .csv into a folder, which is made if need be; each whole or not at all.

    The same data give the same bytes, with the same version of Matplotlib. Everything is rendered before anything is
    written.

    Raises
    ------
    StoreError
        The folder cannot be made or a file not be written.
    """
    contents = {kind: rendered(figure, kind) for kind in kinds} | {"csv": as_csv(data.columns()).encode()}
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise StoreError(f"{folder} cannot be made: {problem.strerror}.") from None
    paths = {folder / f"{name}.{kind}": content for kind, content in contents.items()}
    for path, content in paths.items():
        write_whole(path, content)
    return list(paths)


def rendered(figure: Figure, kind: str) -> bytes:
    """Return a figure as `pdf` or `png`, without what differs from one drawing to the next."""
    written = io.BytesIO()
    figure.savefig(written, format=kind, metadata=_UNDATED[kind])
    return written.getvalue()


def as_csv(columns: Mapping[str, Column]) -> str:
    """Return the columns of equal length as CSV; a number reads back as the same number, and what is unknown is an
    empty field.

    >>> print(as_csv({"policy": ["first_fit"], "n": np.array([3]), "mean": np.array([0.1]), "low": [np.nan]}), end="")
    policy,n,mean,low
    first_fit,3,0.1,
    """
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(columns)
    table.writerows(zip(*(map(_field, np.asarray(column).tolist()) for column in columns.values()), strict=True))
    return written.getvalue()


def _field(value: Any) -> Any:
    return "" if isinstance(value, float) and math.isnan(value) else value
