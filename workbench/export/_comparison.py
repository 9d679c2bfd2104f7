"""Compare files of a bundle with what is computed: texts cell by cell, pictures by what is drawn in them.

Tables of TeX, macros, CSV and JSON are each taken apart by their own cells.

"""

from __future__ import annotations

import csv
import difflib
import re
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from workbench.export.drawings import FIGURES, Drawing, write_pgf
from workbench.figures.figure_files import rendered

_ABSENT = "nothing"
_MOST_ALIGNED = 2_000
"""Lines up to which two texts of different lengths are aligned; longer ones are compared line by line."""
_MACRO = re.compile(r"\\newcommand\{(\\\w+)\}\{\\ensuremath\{(.*)\}\} (%.*)")


class Change(NamedTuple):
    """One cell of a bundle that is not what is computed from its runs."""

    file: str
    row: str
    column: str
    bundled: str
    """What the bundle holds."""
    recomputed: str

    @property
    def sentence(self) -> str:
        """Return the change in a line."""
        where = ", ".join(part for part in (self.row, self.column) if part)
        return f"{self.file}: {where}{': ' if where else ''}says {self.bundled}, recomputed {self.recomputed}"

    def plain(self) -> dict[str, str]:
        """Return the change as `workbench verify --json` prints it."""
        cell = {"file": self.file, "row": self.row, "column": self.column}
        return {**cell, "said": self.bundled, "recomputed": self.recomputed}


class _Line(NamedTuple):
    """A line of a text as its cells, by the names of their columns."""

    row: str
    cells: Sequence[tuple[str, str]]


def changes(file: str, message: str, recomputed: str, slack: float = 0.0) -> Iterator[Change]:
    """Compare the text of a file with the text that is computed, cell by cell.

    Parameters
    ----------
    slack : float
        The relative difference up to which two numbers are the same: 0 where the same machine, Python and packages
        compute, more where the last digit may differ.

    Examples
    --------
    >>> [one.sentence for one in changes("a.csv", "policy,mean\\nbest_fit,2.0\\n", "policy,mean\\nbest_fit,2.5\\n")]
    ['a.csv: line 2 (best_fit), mean: says 2.0, recomputed 2.5']
    """
    if message == recomputed:
        return
    ours, theirs = (_reader(file)(text) for text in (message, recomputed))
    for first, second in _paired(message.splitlines(), recomputed.splitlines()):
        yield from _of_line(file, first, second, ours, theirs, slack)


def changed_values(file: str, raw: Any, recomputed: Any, slack: float = 0.0) -> Iterator[Change]:
    """Compare two values of JSON, leaf by leaf.

    >>> [one.sentence for one in changed_values("m.json", {"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]})]
    ['m.json: a > 1, b: says 2, recomputed 3']
    """
    ours, theirs = dict(_leaves(raw)), dict(_leaves(recomputed))
    for path in dict.fromkeys([*theirs, *ours]):
        first, second = ours.get(path, _ABSENT), theirs.get(path, _ABSENT)
        if not same(first, second, slack):
            yield Change(file, " > ".join(path[:-1]), path[-1] if path else "", first, second)


def same(message: str, recomputed: str, slack: float) -> bool:
    """Return whether two cells say the same: as texts, or as numbers up to a relative difference.

    >>> same("0.1", "0.10000000000000002", 0.0), same("0.1", "0.10000000000000002", 1e-12)
    (False, True)
    """
    if message == recomputed or not slack:
        return message == recomputed
    try:
        first, second = float(message), float(recomputed)
    except ValueError:
        return False
    return abs(first - second) <= slack * max(abs(first), abs(second))


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else None
    if not inner or not value:
        yield path, repr(value)
        return
    for key, one in inner:
        yield from _leaves(one, (*path, str(key)))


def _paired(lines: list[str], recomputed: list[str]) -> Iterator[tuple[tuple[int, str] | None, tuple[int, str] | None]]:
    """Yield the lines that differ, with their places; one that only one text has stands alone."""
    if len(lines) == len(recomputed) or max(len(lines), len(recomputed)) > _MOST_ALIGNED:
        blocks = [(0, len(lines), 0, len(recomputed))]
    else:
        aligned = difflib.SequenceMatcher(None, lines, recomputed, autojunk=False).get_opcodes()
        blocks = [(i, j, k, m) for kind, i, j, k, m in aligned if kind != "equal"]
    for i, j, k, m in blocks:
        for first, second in zip_longest(enumerate(lines[i:j], i), enumerate(recomputed[k:m], k)):
            if first is None or second is None or first[1] != second[1]:
                yield first, second


def _of_line(
    file: str,
    first: tuple[int, str] | None,
    second: tuple[int, str] | None,
    cells_of: Callable[[int, str], _Line],
    recomputed: Callable[[int, str], _Line],
    slack: float,
) -> Iterator[Change]:
    if first is None or second is None:
        number, text = first or second or (0, "")
        yield Change(file, f"line {number + 1}", "", text if first else _ABSENT, text if second else _ABSENT)
        return
    ours, theirs = cells_of(*first), recomputed(*second)
    if len(ours.cells) != len(theirs.cells):
        yield Change(file, theirs.row, "", first[1], second[1])
        return
    for (_, mine), (column, right) in zip(ours.cells, theirs.cells, strict=True):
        if not same(mine, right, slack):
            yield Change(file, theirs.row, column, mine, right)


def _reader(file: str) -> Callable[[str], Callable[[int, str], _Line]]:
    if file.endswith(".csv"):
        return _csv_line
    return _table_line if file.startswith("tables/") else _tex_line


def _csv_line(text: str) -> Callable[[int, str], _Line]:
    header = next(csv.reader(text.splitlines()), [])

    def line(number: int, one: str) -> _Line:
        cells = next(csv.reader([one]), [])
        columns = [*header, *("" for _ in range(len(cells) - len(header)))]
        return _Line(f"line {number + 1} ({cells[0] if cells else ''})", list(zip(columns, cells)))

    return line


def _tex_line(text: str) -> Callable[[int, str], _Line]:
    def line(number: int, one: str) -> _Line:
        macro = _MACRO.fullmatch(one)
        if macro is None:
            return _Line(f"line {number + 1}", [("text", one)])
        name, value, comment = macro.groups()
        return _Line(name, [("name", name), ("value", value), ("comment", comment)])

    return line


def _table_line(text: str) -> Callable[[int, str], _Line]:
    lines = text.splitlines()
    header = next((_cells(one) for one in lines if " & " in one and not one.startswith("%")), [])

    def line(number: int, one: str) -> _Line:
        cells = _cells(one)
        if one.startswith("%") or len(cells) != len(header):
            return _Line(f"line {number + 1}", [("text", one)])
        return _Line(f"line {number + 1} ({cells[0]})", list(zip(header, cells)))

    return line


def _cells(line: str) -> list[str]:
    return line.removesuffix("\\\\").rstrip().split(" & ")


_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_LENGTH = re.compile(rb"\d+ 0 obj\s+\d+\s+endobj")
PICTURES = (".pdf", ".pgf")


def redrawn(drawn: Sequence[Drawing], names: Iterable[str]) -> dict[str, bytes]:
    """Draw figures and return those of the named pictures that can be drawn here, by their paths in a bundle."""
    pictures: dict[str, bytes] = {}
    for one in drawn:
        pdf, pgf = (f"{FIGURES}/{one.name}{suffix}" for suffix in PICTURES)
        pictures[pdf] = rendered(one.sheet, "pdf")
        if pgf in names and (picture := _as_pgf(one.drawn)) is not None:
            pictures[pgf] = picture
    return pictures


def _as_pgf(draw: Callable[[], Any]) -> bytes | None:
    with tempfile.TemporaryDirectory(prefix="workbench-verify-") as folder:
        write_pgf(draw, Path(folder, "one.pgf"))
        return Path(folder, "one.pgf").read_bytes() if Path(folder, "one.pgf").is_file() else None


def compared_pictures(folder: Path, now: Mapping[str, bytes]) -> dict[str, bool]:
    """Return the pictures of a bundle, of those drawn again, that show the same."""
    return {name: same_picture((folder / name).read_bytes(), picture) for name, picture in now.items()}


def same_picture(message: bytes, drawn: bytes) -> bool:
    """Return whether two PDF (or PGF) files show the same: the same bytes, however their streams are compressed."""
    return message == drawn or (message[:4] == drawn[:4] == b"%PDF" and _inside(message) == _inside(drawn))


def _inside(pdf: bytes) -> tuple[list[bytes], bytes]:
    """Return the streams as they are read, and the rest without what depends on their compressed length."""
    rest = _LENGTH.sub(b"", _STREAM.sub(b"", pdf).rpartition(b"\nxref")[0])
    return [_inflated(stream) for stream in _STREAM.findall(pdf)], rest


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return stream
