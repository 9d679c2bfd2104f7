"""Measured kernel times over a swept size, as MGPUSim's calibration files hold them: what a simulator is compared with.

A CSV with the columns benchmark, scaling_param_name, scaling_param_value, non_scaling_json, kernel_ms_mean, n_reps; a
row a measurement. What is not swept stands in the fourth column, as JSON.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, shown, unknown_name
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.text_formats import Header, Row, csv_rows

_COLUMNS = ("benchmark", "scaling_param_name", "scaling_param_value", "non_scaling_json", "kernel_ms_mean", "n_reps")
_MOST_DIGITS = 1000
"""Characters of the JSON of one row."""


class MeasuredKernel(NamedTuple):
    """One kernel with all but its size fixed, the sizes in the file's order."""

    kernel: str
    size_name: str
    """What is swept, such as options or table_size."""
    fixed: dict[str, Any]
    """What is not, by name."""
    size: np.ndarray
    """int64[rows]."""
    milliseconds: np.ndarray
    """float64[rows], the mean of the repetitions."""
    repetitions: np.ndarray
    """int64[rows]."""


def measured_kernels(path: str | Path, kernel: str = "") -> list[MeasuredKernel]:
    """Read the kernels of a measured sweep, in the order in which they begin.

    Parameters
    ----------
    path : str or Path
        The CSV file, which may be compressed.
    kernel : str
        Only those of this name; all if empty.

    Raises
    ------
    InputError
        The file is no such sweep, a row is wrong, or no kernel has this name.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp(), "sweep.csv")
    >>> rows = [",".join(_COLUMNS), 'fill,size,304,"{""block"":64}",1.5,3', 'fill,size,305,"{""block"":64}",3,3']
    >>> _ = place.write_text("\\n".join(rows))
    >>> (sweep,) = measured_kernels(place, "fill")
    >>> sweep.fixed, sweep.size.tolist(), sweep.milliseconds.tolist()
    ({'block': 64}, [304, 305], [1.5, 3.0])
    """
    groups: dict[tuple[str, str, str], list[tuple[int, float, int]]] = {}
    for row in csv_rows(Source(path), _is_header, "a measured sweep"):
        key = (row.text("benchmark"), row.text("scaling_param_name"), row.text("non_scaling_json"))
        groups.setdefault(key, []).append(_measurement(row, key))
    names = dict.fromkeys(name for name, _, _ in groups)
    if kernel and kernel not in names:
        raise unknown_name(str(path), "kernel", kernel, names)
    return [_kernel(key, lines) for key, lines in groups.items() if kernel in ("", key[0])]


def _is_header(header: Header) -> bool:
    return header.has(*_COLUMNS)


def _measurement(row: Row, key: tuple[str, str, str]) -> tuple[int, float, int]:
    """Return size, time and repetitions of a row; its fixed part is checked."""
    size, time, repetitions = row.whole("scaling_param_value"), row.decimal("kernel_ms_mean"), row.whole("n_reps")
    if size is None or time is None or repetitions is None or time < 0 or repetitions < 1 or not key[0]:
        raise InputError(f"{row.where}: must have a benchmark, a size, a time of at least 0 and n_reps of at least 1.")
    if len(key[2]) > _MOST_DIGITS or not isinstance(_json(key[2]), dict):
        raise InputError(f"{row.where}: non_scaling_json must be a JSON object. Got {shown(key[2])}.")
    return size, float(time), repetitions


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _kernel(key: tuple[str, str, str], lines: list[tuple[int, float, int]]) -> MeasuredKernel:
    size, time, repetitions = zip(*lines, strict=True)
    columns = np.array(size, np.int64), np.array(time, np.float64), np.array(repetitions, np.int64)
    return MeasuredKernel(key[0], key[1], _json(key[2]), *columns)
