"""Write a workload file: columns as a CSV file that appears whole or not at all."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

import numpy as np

from workbench.errors import InputError


def write_file(parts: Iterable[Mapping[str, np.ndarray]], out: Path | str) -> None:
    """Write columns, some rows at a time; the first part names them, and all have the same.

    Raises
    ------
    InputError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> write_file([{"cycle": np.array([0, 4]), "page": np.array([7, 7])}], place)
    >>> place.read_text()
    'cycle,page\\n0,7\\n4,7\\n'
    """
    place = Path(out)
    part = place.with_name(f".{place.name}.part")
    rest = iter(parts)
    first = next(rest)
    try:
        with part.open("w", encoding="ascii", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(first)
            for columns in chain([first], rest):
                writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
        os.replace(part, place)
    except OSError as problem:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise InputError(f"{place}: cannot be written ({problem.strerror}).") from None
