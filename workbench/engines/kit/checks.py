"""Checks of a workload's columns: whole numbers of a range, one a row; the first that is wrong is named."""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError, wrong_value


def check_column(row: str, name: str, column: np.ndarray, rows: int, least: int, most: int, width: int = 1) -> None:
    """Refuse a column that has not a number a row, or one that is no whole number of a range; the first is named.

    Parameters
    ----------
    row, name : str
        What a row is called, and the column.
    least, most : int
        The first and the last number that are allowed.
    width : int, optional
        How many numbers a row has.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_column("access", "page", np.array([3, -1]), 2, 0, 9)
    Traceback (most recent call last):
    ...
    workbench.errors.InputError: access 1: page must be a whole number from 0 to 9. Got -1. Nearest: 0.
    """
    check_whole(row, name, column, rows, least, most, width=width)
    if column.size and (column.min() < least or column.max() > most):
        refuse_number(row, name, int(np.argmax((column < least) | (column > most))), column, least, most)


def check_whole(
    row: str, name: str, column: np.ndarray, rows: int, least: int, most: int, first: int = 0, width: int = 1
) -> None:
    """Refuse a column that has not a whole number a row, whatever their range is; `first` is the number of its first
    row."""
    shape = (rows,) if width == 1 else (rows, width)
    if column.shape != shape:
        numbers, article = "a number" if width == 1 else f"{width} numbers", "an" if row[0] in "aeiou" else "a"
        expected = f"must have {numbers} {article} {row}, {_sizes(shape)}"
        raise InputError(f"the workload's {name} {expected}. Got {_sizes(column.shape)}.")
    if column.size and column.dtype.kind not in "iub":
        raise wrong_value("", f"{row} {first}: {name}", _expected(least, most), column.ravel().tolist()[0])


def refuse_number(row: str, name: str, place: int, column: np.ndarray, least: int, most: int, first: int = 0) -> None:
    """Refuse the number at a place of a column of whole numbers, row by row, with the nearest that is allowed."""
    got, number = int(column.ravel()[place]), first + place // (column.size // len(column))
    raise wrong_value("", f"{row} {number}: {name}", _expected(least, most), got, min(max(got, least), most))


def _sizes(shape: tuple[int, ...]) -> str:
    """Return the sizes of an array in words: `3 x 6`."""
    return " x ".join(map(str, shape)) or "a single number"


def _expected(least: int, most: int) -> str:
    return f"must be a whole number from {least} to {most}"
