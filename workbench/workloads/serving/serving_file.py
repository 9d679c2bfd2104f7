"""Serving traces in CSV files: the Azure LLM inference traces, BurstGPT, or the user's own."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.errors import InputError, shown
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.csv_columns import column_names, row_place
from workbench.workloads.csv_file import CsvFile
from workbench.workloads.serving.key_value_cache import NS_A_SECOND, Serving
from workbench.workloads.serving.traffic import Traffic, prefixes

_MOST_TOKENS = 1 << 32


def nanoseconds(text: str) -> int:
    """Return the nanoseconds of a date and a time of day since 1970, digits behind the microseconds included.

    >>> nanoseconds("2023-11-16 18:17:04.0319607") - nanoseconds("2023-11-16 18:17:03.9799600")
    52000700
    """
    moment, _, rest = text.partition(".")
    digits = rest.partition("+")[0]
    whole = datetime.fromisoformat(moment.partition("+")[0] + "+00:00")
    return int(whole.timestamp()) * NS_A_SECOND + int(digits.ljust(9, "0")[:9] or 0)


class _Columns(NamedTuple):
    """The names that one publisher gives its columns."""

    arrival: str
    prompt: str
    answer: str
    time: Callable[[str], int]
    """From the text of an arrival to nanoseconds."""


PUBLISHED = (
    _Columns("TIMESTAMP", "ContextTokens", "GeneratedTokens", nanoseconds),
    _Columns("Timestamp", "Request tokens", "Response tokens", lambda text: round(float(text) * NS_A_SECOND)),
    _Columns("arrival_ns", "prompt_tokens", "answer_tokens", int),
)
"""Azure LLM inference traces (Azure/AzurePublicDataset, CC-BY), BurstGPT (HPMLL/BurstGPT, CC-BY), or the user's."""


class ServingFile(Serving, CsvFile):
    """The requests of a serving trace, one a row, in the order of time: when each came, tokens of prompt and answer.

    Columns are those of the Azure LLM inference traces (`TIMESTAMP,ContextTokens,GeneratedTokens`), of BurstGPT
    (`Timestamp,Request tokens,Response tokens` and others), or `arrival_ns,prompt_tokens,answer_tokens`. A row without
    an answer is a request that failed, and is left out. Times count from the first row on. No trace tells prefixes:
    those of `prefix_share` are drawn.

    References
    ----------
    Patel et al., Splitwise, ISCA 2024 (the Azure traces of 2023); Wang et al., BurstGPT, arXiv 2401.17644.
    """

    more_seeds: ClassVar[str] = "prefix_share"
    count: int = lever(0, least=0, most=1 << 31, unit="requests", description="the first ones alone; 0 = all")
    speed: float = lever(
        1.0,
        least=0.001,
        most=1e6,
        scale="log",
        description="how many times as fast requests come as recorded",
    )

    @classmethod
    def reads(cls, header: list[str]) -> bool:
        """Return whether a header is that of a serving trace."""
        return any({names.arrival, names.prompt, names.answer} <= set(header) for names in PUBLISHED)

    @classmethod
    def parsed(cls, text: bytes, sha256: str, where: str) -> Content:
        header = column_names(text)
        names = next((it for it in PUBLISHED if {it.arrival, it.prompt, it.answer} <= set(header)), None)
        if names is None:
            expected = " or ".join(",".join(it[:3]) for it in PUBLISHED)
            raise InputError(f"{where}: the first line must name the columns {expected}. Got {','.join(header)[:80]}.")
        rows = np.array(list(_rows_of_file(text, header, names, where)), np.int64).reshape(-1, 3)
        if not len(rows):
            raise InputError(f"{where}: must have at least one row with an answer below the header. It has none.")
        return Content(sha256, rows[:, 0] - rows[0, 0], rows[:, 1], rows[:, 2])

    def traffic(self, streams: Streams) -> Traffic:
        content: Content = self.content()
        arrival, prompt, answer = (column[: self.count or None] for column in content[1:])
        prefix = prefixes(prompt, self.prefix_tokens, self.prefix_kinds, self.prefix_share, streams)
        return Traffic((arrival / self.speed).astype(np.int64), prompt, answer, prefix)

    def different_seeds(self, machine: Any) -> int | None:
        return None if self.prefix_tokens and self.prefix_share else 1


class Content(NamedTuple):
    """What a serving trace holds."""

    sha256: str
    """Digest of the content, uncompressed."""
    arrival: np.ndarray
    prompt: np.ndarray
    answer: np.ndarray


def _rows_of_file(text: bytes, header: list[str], names: _Columns, where: str) -> Iterator[tuple[int, int, int]]:
    """Yield arrival, prompt and answer of each row that has an answer; the first row that is wrong is refused."""
    last = None
    lines = csv.reader(io.StringIO(text.decode("utf-8-sig", errors="replace")))
    next(lines)
    for number, fields in enumerate(lines):
        if not fields:
            continue
        place = f"{where}: {row_place(number)}"
        if len(fields) != len(header):
            raise InputError(f"{place}: must have {len(header)} fields. It has {len(fields)}.")
        row = dict(zip(header, fields, strict=True))
        arrival = _time(row, names, place)
        if last is not None and arrival < last:
            raise InputError(f"{place}: {names.arrival} must not be before the row above it. Sort the rows by time.")
        last = arrival
        prompt, answer = (_tokens(row, name, place) for name in (names.prompt, names.answer))
        if answer:
            yield arrival, max(prompt, 1), answer


def _time(row: Mapping[str, str], names: _Columns, place: str) -> int:
    try:
        result = names.time(row[names.arrival].strip())
    except (ValueError, OverflowError):
        result = -1
    if not 0 <= result < 1 << 62:
        raise InputError(f"{place}: {names.arrival} must be a time. Got {shown(row[names.arrival])}.")
    return result


def _tokens(row: Mapping[str, str], name: str, place: str) -> int:
    field = row[name].strip()
    if not (field.isdigit() and len(field) < 12 and int(field) < _MOST_TOKENS):
        raise InputError(f"{place}: {name} must be a whole number of tokens, at least 0. Got {shown(row[name])}.")
    return int(field)
